//! The hand of a channel's one receiver: who finds it held out puts a message straight into it.
//!
//! ```text
//!                    begin                    give: a sender's claim
//!   nothing, HANDED ───────> WAITING ───────────────────────────────> HANDED     the message is or will be in the hand
//!                               │ └── announce: a sender's claim ───> QUEUED     it is in the queue
//!                               └──── end: the receiver gives up ───> nothing
//! ```
//!
//! A message in the hand is older than all in the queue: the hand is held out only while that is empty.
//!
//! **Invariant (one claim):** WAITING is set by the receiver only, after it wrote its waiter, and leads to one of three
//! successors, so one thread gets the right to what lies in the cells: the receiver, if it took WAITING back or finds
//! the hand `full`; a sender by `give`, until it makes the hand `full`; one by `announce`, for as long as it has the
//! queue's lock, which the receiver takes before it holds its hand out again.
//!
//! **Invariant (flags):** QUEUED and ENDED change under the queue's lock only, and nobody but the receiver clears them. No sender is
//! left to claim anything once ENDED is set.
#![expect(
    unsafe_code,
    reason = "a message and a waiter that change hands by an atomic word, without a lock"
)]

use std::cell::UnsafeCell;

use crate::park::{Epoch, Waiter};
use crate::primitive::constant::{AtomicBool, AtomicU64, Ordering};
use crate::primitive::yield_now;
use crate::sync::raw::attempt::Attempt;

/// The receiver waits, for nothing is there.
const WAITING: u64 = 1;
/// A sender has answered the last wait by the hand.
const HANDED: u64 = 1 << 1;
/// The queue holds something.
const QUEUED: u64 = 1 << 2;
/// No sender is left.
const ENDED: u64 = 1 << 3;

/// See the module's documentation.
pub(super) struct Hand<T> {
    word: AtomicU64,
    full: AtomicBool,
    content: UnsafeCell<Option<T>>,
    /// The receiver's last wait, which may be over.
    waiter: UnsafeCell<Option<Waiter>>,
}

// SAFETY: (one claim) the cells are reached by one thread at a time, so what lies in them only moves between threads.
unsafe impl<T: Send> Sync for Hand<T> {}

/// What the receiver finds beside its hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Nothing.
    Nothing,
    /// The queue holds something.
    Queued,
    /// Nothing, and no sender is left.
    End,
}

impl<T> Hand<T> {
    pub(super) fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            full: AtomicBool::new(false),
            content: UnsafeCell::new(None),
            waiter: UnsafeCell::new(None),
        }
    }

    /// A sender: puts a message into the hand and wakes the receiver, if that waits.
    #[inline]
    pub(super) fn give(&self, content: T) -> Result<(), T> {
        if self.word.load(Ordering::Relaxed) != WAITING
            || self
                .word
                .compare_exchange(WAITING, HANDED, Ordering::AcqRel, Ordering::Relaxed)
                .is_err()
        {
            return Err(content);
        }
        // SAFETY: (one claim) it is ours until `full`.
        let hand = unsafe { &mut *self.content.get() };
        // SAFETY: as above.
        let waiter = unsafe { &*self.waiter.get() };
        debug_assert!(hand.is_none(), "the hand is held out empty");
        *hand = Some(content);
        let Some(waiter) = waiter else {
            unreachable!("who waits has said who it is")
        };
        // A neighbour does not run before this thread has left, so it may be woken first, as it lies there.
        if waiter.wake_neighbour() {
            self.full.store(true, Ordering::Release);
        } else {
            let waiter = waiter.clone();
            self.full.store(true, Ordering::Release);
            waiter.wake();
        }
        Ok(())
    }

    /// A sender, under the queue's lock: something lies there. Returns the receiver if it must be woken.
    pub(super) fn announce(&self) -> Option<Waiter> {
        let seen = self.word.load(Ordering::Relaxed);
        if seen & QUEUED != 0 {
            return None;
        }
        self.tell(QUEUED)
    }

    /// The last sender, under the queue's lock: there will be nothing more. As [`announce`](Self::announce).
    pub(super) fn announce_end(&self) -> Option<Waiter> {
        self.tell(ENDED)
    }

    fn tell(&self, flag: u64) -> Option<Waiter> {
        let mut seen = self.word.load(Ordering::Relaxed);
        loop {
            let next = seen & !WAITING | flag;
            match self
                .word
                .compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        if seen & WAITING == 0 {
            return None;
        }
        // SAFETY: (one claim) it is ours for as long as the caller has the lock.
        let waiter = unsafe { &*self.waiter.get() };
        let receiver = waiter.as_ref().filter(|waiter| !waiter.wake_neighbour());
        receiver.cloned()
    }

    /// The receiver: takes what was put into its hand.
    #[inline]
    pub(super) fn take(&self) -> Option<T> {
        if !self.full.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: (one claim) a full hand is the receiver's.
        let content = unsafe { &mut *self.content.get() }.take();
        self.full.store(false, Ordering::Relaxed);
        content
    }

    /// The receiver, whose hand is empty: what else is there?
    #[inline]
    pub(super) fn beside(&self) -> Beside {
        let word = self.word.load(Ordering::Acquire);
        if word & QUEUED != 0 {
            Beside::Queued
        } else if word & ENDED != 0 {
            Beside::End
        } else {
            Beside::Nothing
        }
    }

    /// The receiver, under the queue's lock: it has emptied the queue.
    pub(super) fn nothing_queued(&self) {
        // A plain store: it does not wait, and all others need the lock.
        let ended = self.word.load(Ordering::Relaxed) & ENDED;
        self.word.store(ended, Ordering::Release);
    }

    /// The receiver, whose hand is empty: holds it out. `None` if something has come meanwhile.
    #[inline]
    pub(super) fn begin(&self, attempt: &Attempt) -> Option<Epoch> {
        let seen = self.word.load(Ordering::Relaxed);
        if seen & (QUEUED | ENDED) != 0 {
            return None;
        }
        // SAFETY: (one claim) its last claim is over: it took what came by it, or had the lock since.
        let epoch = attempt.prepare_in(unsafe { &mut *self.waiter.get() });
        self.word
            .compare_exchange(seen, WAITING, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
            .then_some(epoch)
    }

    /// The receiver: its wait is over, however it ended. What was or is being put into its hand is there afterwards.
    #[inline]
    pub(super) fn end(&self) {
        let mut word = self.word.load(Ordering::Acquire);
        if word & WAITING != 0 {
            match self.word.compare_exchange(
                word,
                word & !WAITING,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
        // Mostly it was full before this thread was woken; else its sender has a few instructions to go.
        while word & HANDED != 0 && !self.full.load(Ordering::Acquire) {
            std::hint::spin_loop();
            yield_now();
        }
    }

    /// The receiver, under the queue's lock: it will not wait any more.
    pub(super) fn withdraw(&self) -> Option<Waiter> {
        // SAFETY: (one claim) it does not wait, and who sets ENDED has the lock while it looks at the waiter.
        unsafe { &mut *self.waiter.get() }.take()
    }
}
