//! What a thread last said it waits for: written by itself at every wait, read by dumps and the watchdog at any time.
//!
//! ```text
//!   owner:   version odd ; fence ; words ; version even             no read-modify-write: a wait is too short for one
//!   anybody: version ; words ; fence ; the same version, and even?  else once more
//! ```
//!
//! **Invariant (whole):** only the owner writes, and the version grows with each writing. So words that were read between
//! two looks at the same even version are those of one announcement.
#![expect(
    unsafe_code,
    reason = "gives places and names back that were stored as numbers"
)]

use std::panic::Location;
use std::ptr;

use super::record::Waiting;
use crate::event::{Operation, Subject};
use crate::primitive::{AtomicU64, Ordering, fence};

/// Looks before a reader takes it that the owner is busy, which then does not wait.
const LOOKS: usize = 16;
/// Words of one announcement.
const WORDS: usize = 10;

const TIMED: u64 = 1 << 8;
const LENDS: u64 = 1 << 9;
const HAS_SUBJECT: u64 = 1 << 10;
const OPERATION: u64 = 0xff;
/// Where the lengths of the subject's kind and name stand, in the same word: a million threads have one of these.
const KIND_LENGTH: u32 = 16;
const NAME_LENGTH: u32 = 32;

/// Some words that one thread writes and others read whole.
pub(super) struct Versioned<const N: usize> {
    /// 0 before the first writing, odd during each.
    version: AtomicU64,
    words: [AtomicU64; N],
}

impl<const N: usize> Versioned<N> {
    pub(super) fn new() -> Self {
        Self {
            version: AtomicU64::new(0),
            words: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// The owner.
    #[inline]
    pub(super) fn write(&self, words: [u64; N]) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        // Who sees one of the words sees that version too.
        fence(Ordering::Release);
        for (place, word) in self.words.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        self.version.store(version + 2, Ordering::Release);
    }

    /// Anybody: `None` before the first writing, and if the owner was writing at each of so many looks.
    pub(super) fn read(&self, looks: usize) -> Option<[u64; N]> {
        for _ in 0..looks {
            let version = self.version.load(Ordering::Acquire);
            if version == 0 {
                return None;
            }
            let words = std::array::from_fn(|at| self.words[at].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version {
                return Some(words);
            }
            std::hint::spin_loop();
        }
        None
    }
}

/// See the module's documentation.
pub(super) struct Announced(Versioned<WORDS>);

impl Announced {
    pub(super) fn new() -> Self {
        Self(Versioned::new())
    }

    /// The owner.
    #[inline]
    pub(super) fn set(&self, waiting: &Waiting) {
        let flag = |is_so: bool, flag: u64| if is_so { flag } else { 0 };
        let subject = waiting.subject;
        let (kind, kind_length) = subject.map_or((0, 0), |subject| text::<u16>(Some(subject.kind)));
        let (name, name_length) = text::<u32>(subject.and_then(|subject| subject.name));
        let kinds = waiting.operation as u64
            | flag(waiting.timed, TIMED)
            | flag(waiting.lends, LENDS)
            | flag(subject.is_some(), HAS_SUBJECT)
            | kind_length << KIND_LENGTH
            | name_length << NAME_LENGTH;
        self.0.write([
            kinds,
            ptr::from_ref(waiting.at).expose_provenance() as u64,
            kind,
            name,
            subject.map_or(0, |subject| subject.id),
            waiting.owner,
            waiting.epoch,
            waiting.since,
            waiting.frame.0 as u64,
            waiting.frame.1 as u64,
        ]);
    }

    /// Anybody: the last announcement; `None` before the first, and while the owner makes one.
    pub(super) fn get(&self) -> Option<Waiting> {
        let words = self.0.read(LOOKS)?;
        // SAFETY: "whole": they were written together by `set`.
        Some(unsafe { decode(words) })
    }
}

/// Address and length; nothing of a text whose length does not fit.
#[inline]
fn text<Length: TryFrom<usize> + Into<u64>>(text: Option<&'static str>) -> (u64, u64) {
    let known = text.and_then(|text| {
        let length = Length::try_from(text.len()).ok()?.into();
        Some((text.as_ptr().expose_provenance() as u64, length))
    });
    known.unwrap_or((0, 0))
}

/// # Safety
///
/// [`Announced::set`] wrote these words.
unsafe fn decode(words: [u64; WORDS]) -> Waiting {
    let [kinds, at, kind, name, id, owner, epoch, since, frame, code] = words;
    let back = |text: u64, length: u64| {
        let start = ptr::with_exposed_provenance(text as usize);
        // SAFETY: address and length of one text that lives for ever.
        let bytes = unsafe { std::slice::from_raw_parts(start, length as usize) };
        // SAFETY: it is a text.
        unsafe { std::str::from_utf8_unchecked(bytes) }
    };
    // SAFETY: the address of a place that lives for ever.
    let at: &'static Location<'static> =
        unsafe { &*ptr::with_exposed_provenance::<Location<'static>>(at as usize) };
    let kind_length = u64::from((kinds >> KIND_LENGTH) as u16);
    let subject = (kinds & HAS_SUBJECT != 0 && kind != 0).then(|| Subject {
        kind: back(kind, kind_length),
        name: (name != 0).then(|| back(name, kinds >> NAME_LENGTH)),
        id,
    });
    Waiting {
        operation: Operation::from_code(kinds & OPERATION).unwrap_or(Operation::Park),
        at,
        subject,
        owner,
        timed: kinds & TIMED != 0,
        lends: kinds & LENDS != 0,
        epoch,
        since,
        frame: (frame as usize, code as usize),
    }
}
