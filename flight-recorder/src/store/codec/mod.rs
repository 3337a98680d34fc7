//! Records as bytes within a segment. Never leaves the process, so it has no version: whatever
//! [`Encoder`] writes, the [`Decoder`] beside it reads.

mod decode;
mod encode;

pub(super) use self::decode::Decoder;
pub(super) use self::encode::Encoder;

/// What a record is: its first byte.
mod tag {
    pub(super) const PINNED: u64 = 0;
    pub(super) const LIVE: u64 = 1;
    pub(super) const DEADLOCK: u64 = 2;
    pub(super) const STALLED: u64 = 3;
    pub(super) const COMPENSATED: u64 = 4;
    pub(super) const EXHAUSTED: u64 = 5;
    pub(super) const NATIVE: u64 = 6;
    pub(super) const FAILED: u64 = 7;
    pub(super) const START: u64 = 8;
    pub(super) const END: u64 = 9;
    pub(super) const PARK: u64 = 10;
    pub(super) const UNPARK: u64 = 11;
    pub(super) const LEAKED: u64 = 12;
    pub(super) const DROPPED: u64 = 13;
    pub(super) const PROGRAM: u64 = 14;
    pub(super) const QUEUED: u64 = 15;
}

/// The levels of `tracing`, by number.
const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

#[cfg(test)]
mod tests;
