//! A view of a source's bytes that holds no more than is looked at.

use std::io::{self, Read, Seek, SeekFrom};

/// Bytes read ahead, so that small events cost no call each.
const AHEAD: u64 = 1 << 20;

/// A source and the part of it that is in memory.
#[derive(Debug)]
pub(super) struct Window<R> {
    source: R,
    len: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl<R: Read + Seek> Window<R> {
    pub(super) fn new(mut source: R) -> io::Result<Self> {
        let len = source.seek(SeekFrom::End(0))?;
        Ok(Self {
            source,
            len,
            start: 0,
            bytes: Vec::new(),
        })
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The bytes from `at`, `len` of them or as many as there are.
    #[inline]
    pub(super) fn bytes(&mut self, at: u64, len: u64) -> io::Result<&[u8]> {
        // Nearly every time: what is looked for is held.
        let held = at.wrapping_sub(self.start);
        if let (Ok(from), Some(to)) = (usize::try_from(held), held.checked_add(len))
            && to <= self.bytes.len() as u64
        {
            return Ok(&self.bytes[from..to as usize]);
        }
        self.bytes_from_source(at, len)
    }

    fn bytes_from_source(&mut self, at: u64, len: u64) -> io::Result<&[u8]> {
        let at = at.min(self.len);
        let len = len.min(self.len - at);
        let held = self.start..self.start + self.bytes.len() as u64;
        if !held.contains(&at) || at + len > held.end {
            self.fill(at, len)?;
        }
        let from = (at - self.start) as usize;
        let to = (from + len as usize).min(self.bytes.len());
        Ok(&self.bytes[from..to])
    }

    fn fill(&mut self, at: u64, len: u64) -> io::Result<()> {
        let wanted = len.max(AHEAD).min(self.len - at);
        self.source.seek(SeekFrom::Start(at))?;
        self.bytes.clear();
        self.start = at;
        // A source that became shorter meanwhile gives less than was asked: its end, then.
        (&mut self.source)
            .take(wanted)
            .read_to_end(&mut self.bytes)?;
        // One large event must not keep its room for all the small ones after it.
        self.bytes.shrink_to((AHEAD * 2) as usize);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_can_be_looked_at_in_any_order() {
        let source: Vec<u8> = (0..3 * AHEAD as usize).map(|i| (i % 251) as u8).collect();
        let mut window = Window::new(io::Cursor::new(&source)).expect("a slice can be read");
        for (at, len) in [
            (0, 4),
            (AHEAD - 2, 4),
            (5, 2 * AHEAD),
            (3 * AHEAD - 1, 10),
            (0, 1),
        ] {
            let to = (at + len).min(source.len() as u64);
            let expected = &source[at as usize..to as usize];
            assert_eq!(
                window.bytes(at, len).expect("a slice can be read"),
                expected
            );
        }
        assert!(
            window
                .bytes(u64::MAX, u64::MAX)
                .expect("a slice can be read")
                .is_empty()
        );
    }
}
