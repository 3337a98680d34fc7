//! Reads the integers and texts of the recording format out of bytes that may hold anything.
//!
//! **Invariant:** every read stays inside the slice and either takes a byte or uses up a step, so no input makes
//! reading hang.

/// The bytes cannot be understood; what about them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Broken(pub(super) &'static str);

pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    steps: usize,
}

/// A text as stored.
pub(super) enum Text {
    Here(String),
    /// In the constant pool under this key.
    Pooled(u64),
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            steps: bytes.len().saturating_mul(4) + 1024,
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// How many bytes were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let end = self
            .at
            .checked_add(count)
            .filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(Broken("it ends within a value"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.take(1)?[0])
    }

    /// Counts a step that may take no byte, such as a struct without fields.
    pub(super) fn step(&mut self) -> Result<(), Broken> {
        self.steps = self
            .steps
            .checked_sub(1)
            .ok_or(Broken("its structure does not end"))?;
        Ok(())
    }

    /// Seven bits a byte, lowest first; a ninth byte carries eight.
    pub(super) fn integer(&mut self) -> Result<u64, Broken> {
        let mut value = 0;
        for index in 0..9 {
            let byte = u64::from(self.byte()?);
            if index == 8 {
                value |= byte << 56;
                break;
            }
            value |= (byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok(value)
    }

    /// A number of things that take at least a byte each.
    pub(super) fn count(&mut self) -> Result<usize, Broken> {
        let count = usize::try_from(self.integer()?).unwrap_or(usize::MAX);
        if count > self.bytes.len() - self.at {
            return Err(Broken("it claims more than it has"));
        }
        Ok(count)
    }

    pub(super) fn text(&mut self) -> Result<Text, Broken> {
        Ok(Text::Here(match self.byte()? {
            0 | 1 => String::new(),
            2 => return Ok(Text::Pooled(self.integer()?)),
            3 => {
                let length = self.count()?;
                String::from_utf8_lossy(self.take(length)?).into_owned()
            }
            4 => {
                let length = self.count()?;
                let units: Result<Vec<u16>, Broken> = (0..length)
                    .map(|_| Ok(u16::try_from(self.integer()?).unwrap_or(u16::MAX)))
                    .collect();
                String::from_utf16_lossy(&units?)
            }
            5 => {
                let length = self.count()?;
                self.take(length)?
                    .iter()
                    .map(|byte| char::from(*byte))
                    .collect()
            }
            _ => return Err(Broken("a text is stored in an unknown way")),
        }))
    }

    /// The next size-prefixed record without its size, whose bytes count themselves.
    pub(super) fn record(&mut self) -> Result<&'a [u8], Broken> {
        let start = self.at;
        let size = usize::try_from(self.integer()?).unwrap_or(usize::MAX);
        let prefix = self.at - start;
        self.take(
            size.checked_sub(prefix)
                .ok_or(Broken("a record is smaller than its size"))?,
        )
    }
}
