//! The binary form of what carriers record: one function writes each kind, one reads them all.
//!
//! ```text
//! header | at | thread.id | packed small fields | kind's own words | name bytes | stack
//! ```
//!
//! Names are copied in, so that they stay valid however long the record waits; statics go by number
//! ([`intern`]). Writing allocates nothing and takes no lock (except at the first sight of a static).
//! Reading is total: whatever a record holds, it gives an event or nothing, never a panic.

pub(super) mod write;

pub(super) mod read;

pub(super) mod text;

pub(super) mod intern;

mod place;

/// Longer thread names are cut.
const MAX_NAME: usize = 256;

/// Deeper stacks are cut: the innermost frames are what tells.
pub(crate) const MAX_STACK: usize = 128;

/// The stored length of "no name given".
const UNNAMED: u64 = 0xffff;

/// Kinds of records, as stored in their headers.
mod kind {
    pub(super) const PINNED: u8 = 1;
    pub(super) const NATIVE: u8 = 2;
    pub(super) const START: u8 = 3;
    pub(super) const END: u8 = 4;
    pub(super) const PARK: u8 = 5;
    pub(super) const UNPARK: u8 = 6;
}

#[cfg(test)]
mod tests;
