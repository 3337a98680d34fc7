//! The readers-writer raw lock under both `RwLock`s: one word, one queue, strictly in order once somebody waits.
//!
//! ```text
//!   63                      2 1 0
//!   ┌───────────────────────┬─┬─┐
//!   │ readers               │W│Q│      W a writer is inside, Q somebody waits
//!   └───────────────────────┴─┴─┘
//! ```
//!
//! A reader that finds somebody waiting stands in line, so writers are not starved by readers (and a thread
//! that reads twice while a writer waits may wait for itself, as with std's). It still goes ahead if nobody
//! before it can run.
//!
//! **Invariant (flag):** Q changes only under the queue's lock; so whoever holds that and finds the lock taken
//! knows that the release comes later and will see Q.

use crate::event::{Operation, Subject};
use crate::park;
use crate::primitive::constant::{AtomicU64, Ordering};
use crate::sync::raw::attempt::{self, Attempt, GaveUp};
use crate::sync::wait_queue::{EVERYTHING, Line, Place, WaitQueue};

const QUEUED: u64 = 1;
const WRITER: u64 = 1 << 1;
const ONE_READER: u64 = 1 << 2;
const READERS: u64 = !(QUEUED | WRITER);

/// See the module's documentation.
pub(crate) struct Shared {
    word: AtomicU64,
    /// The thread that writes, 0 if unknown. Only for reports.
    writer: AtomicU64,
    queue: WaitQueue,
}

/// What a thread wants of the lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl Access {
    fn want(self) -> u64 {
        match self {
            Self::Read => 1,
            Self::Write => EVERYTHING,
        }
    }

    /// `word` after taking this access, if `word` allows it.
    fn taken(self, word: u64) -> Option<u64> {
        match self {
            Self::Read if word & WRITER == 0 => word.checked_add(ONE_READER),
            Self::Write if word & (WRITER | READERS) == 0 => Some(word | WRITER),
            Self::Read | Self::Write => None,
        }
    }
}

impl Shared {
    pub(crate) const fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            writer: AtomicU64::new(0),
            queue: WaitQueue::new(),
        }
    }

    /// Takes the access unless somebody has it or waits.
    #[inline]
    pub(crate) fn acquire_at_once(&self, access: Access) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word & QUEUED == 0 && self.take_from(word, access)
    }

    /// Takes the access if it is free, also past those who wait.
    #[inline]
    pub(crate) fn try_acquire(&self, access: Access) -> bool {
        self.take_from(self.word.load(Ordering::Relaxed), access)
    }

    #[inline]
    fn take_from(&self, mut word: u64, access: Access) -> bool {
        while let Some(taken) = access.taken(word) {
            match self
                .word
                .compare_exchange_weak(word, taken, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => {
                    if access == Access::Write {
                        self.writer.store(park::me(), Ordering::Relaxed);
                    }
                    return true;
                }
                Err(now) => word = now,
            }
        }
        false
    }

    /// Takes the access, waiting as `attempt` says.
    #[cold]
    pub(crate) fn acquire(&self, access: Access, attempt: &mut Attempt) -> Result<(), GaveUp> {
        let mut line = self.queue.lock();
        let waiter = attempt.prepare();
        let mut epoch = waiter.epoch();
        let place = Place::join(&self.queue, &mut line, waiter, access.want());
        let mut was_called = false;
        loop {
            self.publish(&line);
            let may_take = was_called || line.is_first_able(Some(place.ticket()));
            if may_take && self.try_acquire(access) {
                place.settle(&mut line);
                self.publish(&line);
                // A reader takes those behind it along.
                if access == Access::Read {
                    self.call_next(line);
                }
                return Ok(());
            }
            drop(line);
            attempt.wait(epoch, self.writer.load(Ordering::Relaxed))?;
            was_called = true;
            let waiter = attempt.prepare();
            epoch = waiter.epoch();
            line = self.queue.lock();
            place.rejoin(&mut line, waiter);
        }
    }

    /// Gives the access back. Only who has it may call this.
    #[inline]
    pub(in crate::sync::raw) fn release(&self, access: Access) {
        let after = match access {
            Access::Read => self.word.fetch_sub(ONE_READER, Ordering::Release) - ONE_READER,
            Access::Write => {
                self.writer.store(0, Ordering::Relaxed);
                self.word.fetch_sub(WRITER, Ordering::Release) - WRITER
            }
        };
        if after == QUEUED {
            self.call_next(self.queue.lock());
        }
    }

    /// Gives the access back and takes it again, behind those who wait. Only who has it may call this.
    #[track_caller]
    pub(in crate::sync::raw) fn bump(&self, access: Access) {
        if self.word.load(Ordering::Relaxed) & QUEUED == 0 {
            return;
        }
        let mut attempt = Attempt::new(Operation::Lock).about(Subject {
            kind: "RwLock",
            name: None,
            id: self.id(),
        });
        attempt.persist();
        self.release(access);
        let again = self.acquire(access, &mut attempt);
        // The guard gives it back once more: it must not be without it.
        assert!(again.is_ok(), "a wait without an end gave up: {again:?}");
    }

    /// Writer: becomes a reader without letting another writer in between.
    pub(in crate::sync::raw) fn downgrade(&self) {
        self.writer.store(0, Ordering::Relaxed);
        let before = self.word.fetch_add(ONE_READER - WRITER, Ordering::Release);
        if before & QUEUED != 0 {
            self.call_next(self.queue.lock());
        }
    }

    /// What names it in events.
    pub(crate) fn id(&self) -> u64 {
        std::ptr::from_ref(self).addr() as u64
    }

    /// The writer would wait for itself.
    #[track_caller]
    pub(crate) fn refuse_relock(&self, subject: Subject) {
        // Nobody but this thread writes or erases this thread's id.
        if self.writer.load(Ordering::Relaxed) == park::me() {
            attempt::refuse_self_wait(subject);
        }
    }

    pub(crate) fn is_held(&self, access: Access) -> bool {
        let mask = match access {
            Access::Read => READERS | WRITER,
            Access::Write => WRITER,
        };
        self.word.load(Ordering::Relaxed) & mask != 0
    }

    #[cold]
    fn call_next(&self, mut line: Line<'_>) {
        let word = self.word.load(Ordering::Relaxed);
        let budget = match (word & WRITER, word & READERS) {
            (0, 0) => EVERYTHING,
            // Readers may join readers, a writer may not.
            (0, _) => EVERYTHING - 1,
            _ => return,
        };
        let chosen = line.choose(budget);
        drop(line);
        chosen.call();
    }

    /// Makes the flag say what the queue holds.
    fn publish(&self, line: &Line<'_>) {
        let queued = if line.is_empty() { 0 } else { QUEUED };
        if self.word.load(Ordering::Relaxed) & QUEUED != queued {
            self.word.fetch_xor(QUEUED, Ordering::Relaxed);
        }
    }
}
