//! One overwriting ring of variable-length records: one writer, any number of readers that never
//! make it wait.
//!
//! ```text
//!        tail: oldest whole record            head: end of the newest
//!          v                                    v
//!   ...|hdr|words...|hdr|words......|hdr|words..|  free ...
//!        positions grow for ever; a word lives at position & mask
//! ```
//!
//! A record is a header word (its number, length and kind) and its body. Before the writer stores into
//! words that an old record occupies, it moves `tail` past that record.
//!
//! **Invariant (seqlock):** the writer moves `tail` and passes a release fence *before* it overwrites,
//! and stores `head` with release *after* it wrote. A reader copies a record between an acquire load of
//! `head` and an acquire fence, then looks at `tail` again: if `tail` is still at or before the record,
//! no word of the copy was overwritten. Words are atomics, so a torn copy is wrong but never undefined,
//! and is thrown away.
//!
//! **Invariant (truth):** records are numbered without gaps, so what a reader missed is the difference
//! of two numbers, exact for any pattern of laps.

use crossbeam_utils::CachePadded;

use crate::primitive::{AtomicU64, Ordering, fence};

/// The smallest ring, in words: room for several of the longest records.
const MIN_WORDS: usize = 1024;

/// How often a reader that was lapped tries the oldest record again before it skips to the newest.
const LAPS: u32 = 4;

/// Bits of a header below the record's number: 16 of length, 8 of kind.
const NUMBER_SHIFT: u32 = 24;

/// Record numbers wrap at this many; nobody misses half of them between two reads.
const NUMBER_MASK: u64 = (1 << (64 - NUMBER_SHIFT)) - 1;

/// The first word of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::event) struct Header(u64);

impl Header {
    fn new(number: u64, len: u64, kind: u8) -> Self {
        Self((number & NUMBER_MASK) << NUMBER_SHIFT | (len & 0xffff) << 8 | u64::from(kind))
    }

    /// What the body means.
    pub(in crate::event) fn kind(self) -> u8 {
        self.0 as u8
    }

    /// Words of the record, the header included. Never 0, so that a walk always advances.
    fn len(self) -> u64 {
        (self.0 >> 8 & 0xffff).max(1)
    }

    fn number(self) -> u64 {
        self.0 >> NUMBER_SHIFT
    }
}

/// The ring.
#[derive(Debug)]
pub(in crate::event) struct Ring {
    words: Box<[AtomicU64]>,
    /// Only the writer stores here; padded from `tail` because readers poll it.
    head: CachePadded<AtomicU64>,
    tail: CachePadded<AtomicU64>,
    /// Where the newest record begins.
    newest: AtomicU64,
    /// Records ever written; the writer's own, atomic only because the ring is shared.
    written: AtomicU64,
}

/// How far one reader has come in one ring.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::event) struct Cursor {
    position: u64,
    /// The number of the record expected next; `None` when the reader does not care what it missed.
    expected: Option<u64>,
}

impl Cursor {
    /// A reader that has been there from the first record.
    pub(in crate::event) const FROM_START: Self = Self {
        position: 0,
        expected: Some(0),
    };
}

impl Ring {
    /// An empty ring of at least `words` words.
    pub(in crate::event) fn new(words: usize) -> Self {
        Self::of_exactly(words.max(MIN_WORDS).next_power_of_two())
    }

    /// An empty ring of `words` words, a power of two.
    fn of_exactly(words: usize) -> Self {
        Self {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            head: CachePadded::new(AtomicU64::new(0)),
            tail: CachePadded::new(AtomicU64::new(0)),
            newest: AtomicU64::new(0),
            written: AtomicU64::new(0),
        }
    }

    /// The longest record, in words: a quarter of the ring, so that a full ring still holds a few.
    pub(in crate::event) fn max_len(&self) -> usize {
        (self.words.len() / 4).min(0xffff)
    }

    /// Starts a record whose body has `body` words, pushing out as many old records as it needs.
    /// **Only the ring's one writer may call this.** It appears to readers at [`Record::commit`].
    pub(in crate::event) fn begin(&self, kind: u8, body: usize) -> Record<'_> {
        debug_assert!(body < self.max_len(), "a record must fit its ring");
        let len = body as u64 + 1;
        let head = self.head.load(Ordering::Relaxed);
        let end = head + len;
        let old_tail = self.tail.load(Ordering::Relaxed);
        let mut tail = old_tail;
        while end - tail > self.words.len() as u64 && tail < head {
            tail = head.min(tail + Header(self.word(tail).load(Ordering::Relaxed)).len());
        }
        if tail != old_tail {
            // Release: who reads this tail sees the record that now is the oldest.
            self.tail.store(tail, Ordering::Release);
        }
        // Orders the tail before the stores below: a reader that copied one of them sees the tail.
        fence(Ordering::Release);
        let number = self.written.load(Ordering::Relaxed);
        let mut record = Record {
            ring: self,
            start: head,
            position: head,
            end,
        };
        record.put(Header::new(number, len, kind).0);
        record
    }

    /// Copies the next record after `cursor` that lies before `until` into `body` and returns its
    /// header; adds the records that were overwritten unseen to `lost`.
    pub(in crate::event) fn read(
        &self,
        cursor: &mut Cursor,
        until: u64,
        body: &mut Vec<u64>,
        lost: &mut u64,
    ) -> Option<Header> {
        let mut laps = 0;
        while cursor.position < until {
            let head = self.head.load(Ordering::Acquire);
            let tail = self.tail.load(Ordering::Acquire);
            if cursor.position < tail {
                // The oldest record is also the next to go: after a few lost races go on at the newest,
                // which is safe for nearly a whole round. (Never behind it: only a record that is yet
                // to be read tells how many were missed.)
                cursor.position = if laps < LAPS {
                    tail
                } else {
                    self.newest.load(Ordering::Relaxed)
                };
                laps += 1;
                continue;
            }
            if cursor.position >= head {
                return None;
            }
            let (header, len) = self.copy(cursor.position, body);
            if !self.was_intact(cursor.position) {
                continue;
            }
            let expected = cursor.expected.unwrap_or(header.number());
            *lost += header.number().wrapping_sub(expected) & NUMBER_MASK;
            cursor.expected = Some(header.number().wrapping_add(1) & NUMBER_MASK);
            cursor.position += len;
            return Some(header);
        }
        None
    }

    /// Copies what stands at `position`: a record, if it [`was_intact`](Self::was_intact). Returns its
    /// header and length.
    fn copy(&self, position: u64, body: &mut Vec<u64>) -> (Header, u64) {
        let header = Header(self.word(position).load(Ordering::Relaxed));
        let len = header.len().min(self.words.len() as u64);
        body.clear();
        body.extend((1..len).map(|i| self.word(position + i).load(Ordering::Relaxed)));
        (header, len)
    }

    /// Whether nothing of the record at `position` was overwritten up to the loads before this call.
    fn was_intact(&self, position: u64) -> bool {
        fence(Ordering::Acquire);
        self.tail.load(Ordering::Relaxed) <= position
    }

    /// The end of the newest record.
    pub(in crate::event) fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// Whether `cursor` has not seen everything.
    pub(in crate::event) fn has_news(&self, cursor: &Cursor) -> bool {
        self.head() != cursor.position
    }

    /// A cursor at the oldest record still here: nothing older counts as missed, everything newer does.
    pub(in crate::event) fn oldest(&self) -> Cursor {
        loop {
            let tail = self.tail.load(Ordering::Acquire);
            let head = self.head.load(Ordering::Acquire);
            if head == 0 {
                return Cursor::FROM_START;
            }
            let header = Header(self.word(tail).load(Ordering::Relaxed));
            if tail < head && self.was_intact(tail) {
                return Cursor {
                    position: tail,
                    expected: Some(header.number()),
                };
            }
        }
    }

    /// Moves `cursor` past everything, without counting it as missed.
    pub(in crate::event) fn skip(&self, cursor: &mut Cursor) {
        let head = self.head();
        if cursor.position != head {
            *cursor = Cursor {
                position: head,
                expected: None,
            };
        }
    }

    fn word(&self, position: u64) -> &AtomicU64 {
        &self.words[position as usize & (self.words.len() - 1)]
    }
}

/// A record being written. Dropped without [`Record::commit`] it never was.
#[must_use]
pub(in crate::event) struct Record<'a> {
    ring: &'a Ring,
    start: u64,
    position: u64,
    end: u64,
}

impl Record<'_> {
    /// Appends a word of the body.
    #[inline]
    pub(in crate::event) fn put(&mut self, word: u64) {
        debug_assert!(self.position < self.end, "the body is as long as announced");
        self.ring.word(self.position).store(word, Ordering::Relaxed);
        self.position += 1;
    }

    /// Shows the record to readers. True if with it another half of the ring is full: once per half, a
    /// moment to tell readers who are not to miss anything.
    pub(in crate::event) fn commit(self) -> bool {
        debug_assert_eq!(self.position, self.end, "the body is as long as announced");
        let written = self.ring.written.load(Ordering::Relaxed);
        self.ring.written.store(written + 1, Ordering::Relaxed);
        self.ring.newest.store(self.start, Ordering::Relaxed);
        self.ring.head.store(self.end, Ordering::Release);
        // Positions only grow, so the bit that counts halves flips at each.
        (self.start ^ self.end) & (self.ring.words.len() as u64 / 2) != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom;
