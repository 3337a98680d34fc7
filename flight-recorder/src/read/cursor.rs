//! Reads the format's integers and strings out of a slice that may hold anything.
//!
//! **Invariant:** every step stays inside the slice and the number of steps is bounded by its length,
//! whatever counts the bytes claim; so no input can make reading hang or allocate without measure.

use std::borrow::Cow;

use crate::format::varint::text;

/// Why bytes could not be understood, to be put after the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) &'static str);

pub(crate) const SHORT: Broken = Broken("its bytes end too early");

/// A text as stored: here, or in the pool of strings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stored<'a> {
    Null,
    Here(Cow<'a, str>),
    Pooled(u64),
}

/// A position in a slice.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    steps: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        // Structures may nest a little without taking bytes themselves.
        Self {
            bytes,
            at: 0,
            steps: bytes.len() * 16 + 1024,
        }
    }

    /// At a position, which may lie beyond the end.
    pub(crate) fn starting_at(bytes: &'a [u8], at: usize) -> Self {
        Self {
            at: at.min(bytes.len()),
            ..Self::new(bytes)
        }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Counts a step that took no byte.
    pub(crate) fn step(&mut self) -> Result<(), Broken> {
        self.steps = self
            .steps
            .checked_sub(1)
            .ok_or(Broken("its structure nests without end"))?;
        Ok(())
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Broken> {
        let end = self.at.checked_add(len).ok_or(SHORT)?;
        let taken = self.bytes.get(self.at..end).ok_or(SHORT)?;
        self.at = end;
        Ok(taken)
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, Broken> {
        let byte = *self.bytes.get(self.at).ok_or(SHORT)?;
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    pub(crate) fn integer(&mut self) -> Result<u64, Broken> {
        let first = self.byte()?;
        let mut value = u64::from(first & 0x7f);
        let mut more = first & 0x80 != 0;
        let mut shift = 7;
        while more {
            let byte = self.byte()?;
            if shift == 56 {
                // The ninth byte carries eight bits.
                return Ok(value | u64::from(byte) << 56);
            }
            value |= u64::from(byte & 0x7f) << shift;
            more = byte & 0x80 != 0;
            shift += 7;
        }
        Ok(value)
    }

    /// Steps over an integer.
    #[inline]
    pub(crate) fn skip_integer(&mut self) -> Result<(), Broken> {
        let bytes = self.bytes.get(self.at..).unwrap_or_default();
        // The ninth byte is the last, whatever its highest bit says.
        for (index, byte) in bytes.iter().take(9).enumerate() {
            if *byte < 0x80 || index == 8 {
                self.at += index + 1;
                return Ok(());
            }
        }
        Err(SHORT)
    }

    /// A count of things that take at least a byte each.
    pub(crate) fn count(&mut self) -> Result<usize, Broken> {
        let count = usize::try_from(self.integer()?).unwrap_or(usize::MAX);
        if count > self.left() {
            return Err(Broken("it claims more entries than it has bytes"));
        }
        Ok(count)
    }

    pub(crate) fn text(&mut self) -> Result<Stored<'a>, Broken> {
        Ok(match self.byte()? {
            text::NULL => Stored::Null,
            text::EMPTY => Stored::Here(Cow::Borrowed("")),
            text::POOLED => Stored::Pooled(self.integer()?),
            text::UTF8 => {
                let len = self.count()?;
                Stored::Here(String::from_utf8_lossy(self.take(len)?))
            }
            text::UTF16 => {
                let len = self.count()?;
                let units: Result<Vec<u16>, _> =
                    (0..len).map(|_| Ok(self.integer()? as u16)).collect();
                Stored::Here(Cow::Owned(String::from_utf16_lossy(&units?)))
            }
            text::LATIN1 => {
                let len = self.count()?;
                Stored::Here(
                    self.take(len)?
                        .iter()
                        .map(|byte| char::from(*byte))
                        .collect(),
                )
            }
            _ => return Err(Broken("a text is stored in an unknown way")),
        })
    }

    /// Steps over a text without making it.
    pub(crate) fn skip_text(&mut self) -> Result<(), Broken> {
        match self.byte()? {
            text::NULL | text::EMPTY => {}
            text::POOLED => self.skip_integer()?,
            text::UTF8 | text::LATIN1 => {
                let len = self.count()?;
                self.take(len)?;
            }
            text::UTF16 => {
                for _ in 0..self.count()? {
                    self.skip_integer()?;
                }
            }
            _ => return Err(Broken("a text is stored in an unknown way")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::varint;

    #[test]
    fn integers_survive_the_round_trip() {
        for value in (0..64)
            .flat_map(|bit| [(1 << bit) - 1, 1 << bit])
            .chain([u64::MAX])
        {
            let mut bytes = Vec::new();
            varint::put(&mut bytes, value);
            assert_eq!(Cursor::new(&bytes).integer(), Ok(value));
            bytes.pop();
            assert!(Cursor::new(&bytes).integer() != Ok(value) || bytes.is_empty());
        }
    }

    #[test]
    fn texts_are_read_in_every_form() {
        let here = |text: &'static str| Stored::Here(Cow::Borrowed(text));
        for (bytes, expected) in [
            (&[0][..], Stored::Null),
            (&[1], here("")),
            (&[2, 9], Stored::Pooled(9)),
            (&[3, 2, 0xc3, 0xa9], here("é")),
            (&[4, 2, 0x41, 0xe9, 1], here("Aé")),
            (&[5, 1, 0xe9], here("é")),
        ] {
            assert_eq!(Cursor::new(bytes).text(), Ok(expected), "{bytes:?}");
            let mut cursor = Cursor::new(bytes);
            assert_eq!(cursor.skip_text(), Ok(()));
            assert_eq!(cursor.left(), 0, "{bytes:?}");
        }
        assert_eq!(
            Cursor::new(&[9]).text(),
            Err(Broken("a text is stored in an unknown way"))
        );
        assert!(Cursor::new(&[3, 200, 1]).text().is_err());
    }
}
