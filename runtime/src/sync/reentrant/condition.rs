//! [`Condition`]: waiting for a change of what a [`ReentrantLock`](super::ReentrantLock) protects.

use std::fmt;
use std::time::Duration;

use super::guard::ReentrantLockGuard;
use crate::event::Operation;
use crate::sync::error::{WaitError, WaitTimeoutResult};
use crate::sync::raw::attempt::{self, Attempt, GaveUp};
use crate::sync::raw::condition::RawCondition;

/// A condition of a [`ReentrantLock`](super::ReentrantLock).
///
/// A wait gives back all levels that the thread has in the lock, however deep, and has taken all of them again when
/// it returns. It may return without a notice, so wait in a loop over what you wait for.
///
/// ```
/// use std::cell::Cell;
/// use std::sync::Arc;
/// use vt_runtime::sync::{Condition, ReentrantLock};
/// use vt_runtime::thread;
///
/// let shared = Arc::new((ReentrantLock::new(Cell::new(false)), Condition::new()));
/// let other = Arc::clone(&shared);
/// let setter = thread::spawn(move || {
///     other.0.lock().set(true);
///     other.1.notify_one();
/// });
/// let (lock, condition) = &*shared;
/// let mut ready = lock.lock();
/// while !ready.get() {
///     condition.wait(&mut ready).unwrap();
/// }
/// setter.join().unwrap();
/// ```
pub struct Condition {
    raw: RawCondition,
}

impl Condition {
    /// A condition that nobody waits for. It belongs to the lock it is first waited with.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            raw: RawCondition::new(),
        }
    }

    /// Waits for a notice, without the lock of `guard`.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned.
    ///
    /// # Errors
    ///
    /// [`WaitError::Interrupted`] if the thread is interrupted first; its flag is clear then, and the lock held.
    ///
    /// # Panics
    ///
    /// If others wait for this condition with another lock.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, guard: &mut ReentrantLockGuard<'_, T>) -> Result<(), WaitError> {
        let ended = self.wait_as(
            guard,
            &mut Attempt::new(Operation::Condition).interruptible(),
        );
        ended.map_err(|_| WaitError::Interrupted)
    }

    /// [`wait`](Self::wait) for at most `timeout`.
    ///
    /// # Pinning
    ///
    /// As `wait`.
    ///
    /// # Errors
    ///
    /// As `wait`.
    ///
    /// # Panics
    ///
    /// As `wait`.
    #[track_caller]
    pub fn wait_timeout<T: ?Sized>(
        &self,
        guard: &mut ReentrantLockGuard<'_, T>,
        timeout: Duration,
    ) -> Result<WaitTimeoutResult, WaitError> {
        let attempt = Attempt::new(Operation::Condition).interruptible();
        match self.wait_as(guard, &mut attempt.until(attempt::deadline_in(timeout))) {
            Ok(()) => Ok(WaitTimeoutResult::new(false)),
            Err(GaveUp::Timeout) => Ok(WaitTimeoutResult::new(true)),
            Err(GaveUp::Interrupted) => Err(WaitError::Interrupted),
        }
    }

    #[track_caller]
    fn wait_as<T: ?Sized>(
        &self,
        guard: &mut ReentrantLockGuard<'_, T>,
        attempt: &mut Attempt,
    ) -> Result<(), GaveUp> {
        attempt.set_subject(guard.lock.subject());
        self.raw.wait(guard.lock.cell.raw(), attempt)
    }

    /// Wakes one that waits: the one who has waited longest and is able to run. Those before it whose carrier
    /// cannot run them are woken with it.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn notify_one(&self) {
        self.raw.notify_one();
    }

    /// Wakes all that wait.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn notify_all(&self) {
        self.raw.notify_all();
    }
}

impl Default for Condition {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condition").finish_non_exhaustive()
    }
}
