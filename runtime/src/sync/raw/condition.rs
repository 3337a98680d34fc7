//! The condition under `Condition`, `Condvar` and `Monitor::wait`: gives a lock back, waits for a notice, takes
//! the lock back before anything else.
//!
//! **Invariant (holds again):** however the wait ends (notice, time-out, interrupt, cancel, a panic of a
//! subscriber), the lock is held again when control returns to its user, because guards of the lock are alive
//! above. The wait for it cannot be ended by anything else.
//!
//! **Invariant (one lock):** all who wait at one moment released the same lock.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::event::Operation;
use crate::park::{self, End};
use crate::sync::raw::attempt::{Attempt, GaveUp};
use crate::sync::wait_queue::{EVERYTHING, Place, WaitQueue};

/// A lock that a condition can give back and take again, with all its levels.
pub(crate) trait GiveBack {
    /// What must be restored.
    type Levels;

    /// Owner: releases the lock completely.
    fn give_back(&self) -> Self::Levels;

    /// Takes it back as it was.
    fn take_back(&self, levels: &mut Self::Levels, attempt: &mut Attempt);
}

/// See the module's documentation.
pub(crate) struct RawCondition {
    queue: WaitQueue,
    /// Address of the lock that those who wait have released. Written under the queue's lock.
    lock: AtomicUsize,
}

/// A lock on loan to the world.
struct Given<'a, L: GiveBack> {
    lock: &'a L,
    levels: L::Levels,
    taken_back: bool,
}

impl RawCondition {
    pub(crate) const fn new() -> Self {
        Self {
            queue: WaitQueue::new(),
            lock: AtomicUsize::new(0),
        }
    }

    /// Waits for a notice without `lock`, which the caller holds, and holds it again at return.
    #[track_caller]
    pub(crate) fn wait<L: GiveBack>(&self, lock: &L, attempt: &mut Attempt) -> Result<(), GaveUp> {
        let mut line = self.queue.lock();
        let waits_with = std::ptr::from_ref(lock).addr();
        let others_wait_with = self.lock.swap(waits_with, Ordering::Relaxed);
        if !line.is_empty() && others_wait_with != waits_with {
            self.lock.store(others_wait_with, Ordering::Relaxed);
            drop(line);
            panic!(
                "a condition is waited for with the lock at {waits_with:#x} while others wait for it with the \
                 lock at {others_wait_with:#x}: give each lock a condition of its own"
            );
        }
        let waiter = attempt.prepare();
        let epoch = waiter.epoch();
        let place = Place::join_for_notice(&self.queue, &mut line, waiter);
        drop(line);

        let mut given = Given {
            lock,
            levels: lock.give_back(),
            taken_back: false,
        };
        let end = attempt.wait_to_end(epoch);
        match end {
            End::Done => place.settle(&mut self.queue.lock()),
            // Notified after all, but too late: another one gets it.
            End::Timeout | End::Interrupted | End::Cancelled | End::Deadlock => drop(place),
        }
        attempt.persist();
        given.take_back(attempt);
        match end {
            End::Done => Ok(()),
            End::Timeout => Err(GaveUp::Timeout),
            End::Interrupted => Err(GaveUp::Interrupted),
            End::Cancelled => park::raise_cancel(),
            End::Deadlock => park::raise_deadlock(),
        }
    }

    /// Tells the one who has waited longest and is able to run (and those before it who are not).
    pub(crate) fn notify_one(&self) -> bool {
        self.notify(1) > 0
    }

    /// Tells all who wait; how many there were.
    pub(crate) fn notify_all(&self) -> usize {
        self.notify(EVERYTHING)
    }

    fn notify(&self, count: u64) -> usize {
        // Who waits joined the queue while it held the lock; a notice that matters comes after that.
        let Some(line) = self.queue.lock_if_used() else {
            return 0;
        };
        let chosen = line.choose_more(count);
        let told = chosen.len();
        chosen.call();
        told
    }
}

impl<L: GiveBack> Given<'_, L> {
    fn take_back(&mut self, attempt: &mut Attempt) {
        self.taken_back = true;
        self.lock.take_back(&mut self.levels, attempt);
    }
}

impl<L: GiveBack> Drop for Given<'_, L> {
    fn drop(&mut self) {
        if !self.taken_back {
            let mut attempt = Attempt::new(Operation::Lock);
            attempt.persist();
            self.take_back(&mut attempt);
        }
    }
}
