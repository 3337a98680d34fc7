//! [`Condvar`] in std's shape.

use std::fmt;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use super::error::WaitTimeoutResult;
use super::mutex::MutexGuard;
use crate::event::Operation;
use crate::sync::raw::attempt::{self, Attempt, GaveUp};
use crate::sync::raw::condition::RawCondition;

/// [`std::sync::Condvar`] for virtual threads, to be used with [`Mutex`](super::Mutex).
///
/// ```
/// use std::sync::Arc;
/// use vt_runtime::sync::{Condvar, Mutex};
/// use vt_runtime::thread;
///
/// let pair = Arc::new((Mutex::new(false), Condvar::new()));
/// let other = Arc::clone(&pair);
/// let setter = thread::spawn(move || {
///     *other.0.lock().unwrap() = true;
///     other.1.notify_one();
/// });
/// let (lock, changed) = &*pair;
/// let started = changed.wait_while(lock.lock().unwrap(), |started| !*started).unwrap();
/// assert!(*started);
/// # drop(started);
/// setter.join().unwrap();
/// ```
pub struct Condvar {
    raw: RawCondition,
}

impl Condvar {
    /// A condition variable that nobody waits for.
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

    /// Waits for a notice, with the mutex unlocked. It may return without one. An interrupt does not end the
    /// wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned.
    ///
    /// # Errors
    ///
    /// The guard all the same, if a thread panicked while it held the mutex.
    ///
    /// # Panics
    ///
    /// If others wait for this condition with another mutex.
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        guard.wait(&self.raw, Attempt::new(Operation::Condition)).0
    }

    /// Waits as long as `condition` holds.
    ///
    /// # Pinning
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_while<'a, T: ?Sized, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// [`wait`](Self::wait) for at most `timeout`.
    ///
    /// # Pinning
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let attempt = Attempt::new(Operation::Condition).until(attempt::deadline_in(timeout));
        let (guard, ended) = guard.wait(&self.raw, attempt);
        let timed_out = WaitTimeoutResult::new(ended == Err(GaveUp::Timeout));
        match guard {
            Ok(guard) => Ok((guard, timed_out)),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), timed_out))),
        }
    }

    /// Waits as long as `condition` holds, for at most `timeout`. Timed out means that it held to the end.
    ///
    /// # Pinning
    ///
    /// As [`wait`](Self::wait).
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout_while<'a, T: ?Sized, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let start = std::time::Instant::now();
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult::new(false)));
            }
            let Some(left) = timeout.checked_sub(start.elapsed()) else {
                return Ok((guard, WaitTimeoutResult::new(true)));
            };
            guard = self.wait_timeout(guard, left)?.0;
        }
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

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl std::panic::UnwindSafe for Condvar {}
impl std::panic::RefUnwindSafe for Condvar {}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
