//! [`CountDownLatch`]: waits until a number of things have happened.

use std::fmt;
use std::time::Duration;

use crate::event::{Operation, Subject};
use crate::park;
use crate::primitive::constant::{AtomicU64, Ordering};
use crate::sync::raw::attempt::{self, Attempt, GaveUp};
use crate::sync::wait_queue::{EVERYTHING, Place, WaitQueue};

/// A gate that opens, for good, after a number of [`count_down`](Self::count_down)s.
///
/// ```
/// use std::sync::Arc;
/// use vt_runtime::sync::CountDownLatch;
/// use vt_runtime::thread;
///
/// let ready = Arc::new(CountDownLatch::new(3));
/// for _ in 0..3 {
///     let ready = Arc::clone(&ready);
///     thread::spawn(move || ready.count_down());
/// }
/// ready.wait();
/// assert_eq!(ready.count(), 0);
/// ```
pub struct CountDownLatch {
    count: AtomicU64,
    queue: WaitQueue,
}

impl CountDownLatch {
    /// A gate that opens after `count` count-downs; with 0 it is open.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new(count: u64) -> Self {
        Self {
            count: AtomicU64::new(count),
            queue: WaitQueue::new(),
        }
    }

    /// Counts one down. The last one opens the gate; further ones do nothing.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn count_down(&self) {
        let one_less = |count: u64| count.checked_sub(1);
        // AcqRel: who passes the gate sees what happened before each count-down.
        if self
            .count
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, one_less)
            == Ok(1)
        {
            // Who waits joined under the queue's lock and looked at the count after that, so it saw 0 or is here.
            self.queue.lock().choose_more(EVERYTHING).call();
        }
    }

    /// How many count-downs are left.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Waits until the gate is open. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned.
    #[track_caller]
    pub fn wait(&self) {
        if self.count() != 0 {
            let ended = self.pass(self.attempt());
            debug_assert_eq!(ended, Ok(()), "a wait without an end gave up");
        }
    }

    /// [`wait`](Self::wait) that an interrupt ends.
    ///
    /// # Pinning
    ///
    /// As `wait`.
    ///
    /// # Errors
    ///
    /// [`Interrupted`](crate::sync::Interrupted) if the thread is interrupted first; its flag is clear then.
    #[track_caller]
    pub fn wait_interruptibly(&self) -> Result<(), crate::sync::Interrupted> {
        self.pass(self.attempt().interruptible())
            .map_err(|_| crate::sync::Interrupted)
    }

    /// [`wait`](Self::wait) for at most `timeout`; true if the gate is open. An interrupt ends the wait too,
    /// and the flag stays set.
    ///
    /// # Pinning
    ///
    /// As `wait`.
    #[track_caller]
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        match self.pass(
            self.attempt()
                .interruptible()
                .until(attempt::deadline_in(timeout)),
        ) {
            Ok(()) => true,
            Err(GaveUp::Timeout) => self.count() == 0,
            Err(GaveUp::Interrupted) => {
                attempt::keep_interrupt();
                self.count() == 0
            }
        }
    }

    #[track_caller]
    fn attempt(&self) -> Attempt {
        let id = std::ptr::from_ref(self).addr() as u64;
        Attempt::new(Operation::Latch).about(Subject {
            kind: "CountDownLatch",
            name: None,
            id,
        })
    }

    fn pass(&self, mut attempt: Attempt) -> Result<(), GaveUp> {
        if self.count() == 0 {
            return Ok(());
        }
        let mut line = self.queue.lock();
        let waiter = park::prepare();
        let mut epoch = waiter.epoch();
        let place = Place::join_for_notice(&self.queue, &mut line, waiter);
        while self.count() != 0 {
            drop(line);
            attempt.wait(epoch, 0)?;
            let waiter = park::prepare();
            epoch = waiter.epoch();
            line = self.queue.lock();
            place.rejoin(&mut line, waiter);
        }
        place.settle(&mut line);
        Ok(())
    }
}

impl fmt::Debug for CountDownLatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountDownLatch")
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}
