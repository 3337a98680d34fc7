//! The file format: what a `.jfr` file is made of, shared by the writer and the reader.
//!
//! A file is one or more *chunks*, back to back; each stands for itself:
//!
//! ```text
//! 0        68
//! | header | event | event | ...                       big-endian header, then sized events
//!            size, type id, fields in declared order    every integer an LEB128 varint
//! ```
//!
//! Two events are special and found through the header: the *metadata* (type id 0: the schema) and
//! the *checkpoint* (type id 1: the constant pools). We write them before the other events, so that a
//! file cut short keeps its meaning; the JDK writes them after.
//!
//! **Compatibility.** The container is the JDK's, version 2.1; a reader must take any 2.x. Our types
//! grow only by fields appended at their end and by new types: an old reader skips what it does not
//! know, a new one reads the absent as null. A change that is none of these takes a new type name.
//! `tests/golden/` keeps a file of each released schema; every reader reads them all for ever.

pub(crate) mod schema;
pub(crate) mod varint;

/// The first four bytes of a chunk.
pub(crate) const MAGIC: [u8; 4] = *b"FLR\0";
/// Length of a chunk's header in bytes.
pub(crate) const HEADER_LEN: usize = 68;
/// Type id of the metadata event.
pub(crate) const METADATA: u64 = 0;
/// Type id of the checkpoint event.
pub(crate) const CHECKPOINT: u64 = 1;
/// Header flag: integers are varints.
pub(crate) const FLAG_VARINTS: u8 = 1;
/// Header flag: the recording's last chunk.
pub(crate) const FLAG_LAST: u8 = 2;

/// What the runtime calls a virtual thread that was given no name. A recording leaves such names out, as a JVM's has none
/// for such threads either, and our reader puts them in again.
pub(crate) fn unnamed(id: u64) -> String {
    format!("vt-{}", id.saturating_sub(1))
}

/// Is this what the runtime calls that thread by itself?
pub(crate) fn is_unnamed(id: u64, name: &str) -> bool {
    let is = |number: &str| {
        let is_plain = number == "0" || !number.starts_with(['0', '+']);
        is_plain && number.parse() == Ok(id.saturating_sub(1))
    };
    name.strip_prefix("vt-").is_some_and(is)
}

/// The header of a chunk, as stored: positions are bytes from the chunk's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// Major version of the container.
    pub major: u16,
    /// Minor version of the container.
    pub minor: u16,
    /// Bytes of the whole chunk, this header included.
    pub size: u64,
    /// Where the last checkpoint event stands.
    pub checkpoint: u64,
    /// Where the metadata event stands; 0 in an unfinished chunk.
    pub metadata: u64,
    /// Wall clock at the chunk's start, in nanoseconds since the Unix epoch.
    pub start_ns: u64,
    /// Length of the chunk in nanoseconds.
    pub duration_ns: u64,
    /// The tick counter at the chunk's start.
    pub start_ticks: u64,
    /// Ticks in a second.
    pub ticks_per_second: u64,
    /// 0 when the chunk is finished.
    pub state: u8,
    /// Bit 0: integers are varints. Bit 1: last chunk of the recording.
    pub flags: u8,
}

impl Header {
    pub(crate) fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&self.major.to_be_bytes());
        bytes[6..8].copy_from_slice(&self.minor.to_be_bytes());
        let words = [
            self.size,
            self.checkpoint,
            self.metadata,
            self.start_ns,
            self.duration_ns,
            self.start_ticks,
            self.ticks_per_second,
        ];
        for (slot, word) in bytes[8..64].chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_be_bytes());
        }
        bytes[64] = self.state;
        bytes[67] = self.flags;
        bytes
    }

    /// The header in `bytes`, or `None` where the magic number is missing.
    pub(crate) fn parse(bytes: &[u8; HEADER_LEN]) -> Option<Self> {
        if bytes[..4] != MAGIC {
            return None;
        }
        let half = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let word = |index: usize| {
            let at = 8 + index * 8;
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_be_bytes(word)
        };
        Some(Self {
            major: half(4),
            minor: half(6),
            size: word(0),
            checkpoint: word(1),
            metadata: word(2),
            start_ns: word(3),
            duration_ns: word(4),
            start_ticks: word(5),
            ticks_per_second: word(6),
            state: bytes[64],
            flags: bytes[67],
        })
    }

    /// The wall clock, in nanoseconds since the Unix epoch, of a moment in ticks.
    #[must_use]
    pub fn wall_ns(&self, ticks: i64) -> i64 {
        let since = i128::from(ticks) - i128::from(self.start_ticks);
        let wall = i128::from(self.start_ns) + self.scale(since);
        i64::try_from(wall).unwrap_or(if wall < 0 { i64::MIN } else { i64::MAX })
    }

    /// A span of ticks in nanoseconds.
    #[must_use]
    pub fn span_ns(&self, ticks: i64) -> i64 {
        let span = self.scale(i128::from(ticks));
        i64::try_from(span).unwrap_or(if span < 0 { i64::MIN } else { i64::MAX })
    }

    fn scale(&self, ticks: i128) -> i128 {
        match self.ticks_per_second {
            0 | 1_000_000_000 => ticks,
            frequency => ticks * 1_000_000_000 / i128::from(frequency),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_were_given_are_told_from_those_that_were_not() {
        for id in [1, 2, 11, 1_000_000, u64::MAX] {
            assert!(is_unnamed(id, &unnamed(id)), "{id}");
        }
        for name in ["", "vt-", "vt-06", "vt-+6", "vt-6 ", "vt-7", "worker-6"] {
            assert!(!is_unnamed(7, name), "{name}");
        }
    }

    #[test]
    fn a_header_survives_the_round_trip() {
        let header = Header {
            major: 2,
            minor: 1,
            size: 1,
            checkpoint: 2,
            metadata: 3,
            start_ns: 4,
            duration_ns: 5,
            start_ticks: 6,
            ticks_per_second: 7,
            state: 8,
            flags: 9,
        };
        assert_eq!(Header::parse(&header.to_bytes()), Some(header));
        let mut bytes = header.to_bytes();
        bytes[0] = b'X';
        assert_eq!(Header::parse(&bytes), None);
    }

    #[test]
    fn ticks_become_wall_time_by_the_header_s_frequency() {
        let mut bytes = [0; HEADER_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        let mut header = Header::parse(&bytes).expect("a header of zeros but for the magic number");
        header.start_ns = 1_000;
        header.start_ticks = 500;
        header.ticks_per_second = 2_000_000_000;
        assert_eq!(header.wall_ns(700), 1_100);
        assert_eq!(header.wall_ns(300), 900);
        assert_eq!(header.span_ns(i64::MAX), i64::MAX / 2);
    }
}
