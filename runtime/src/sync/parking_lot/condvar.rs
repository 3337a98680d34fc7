//! `Condvar` in parking_lot's shape.

use std::fmt;
use std::time::{Duration, Instant};

use super::mutex::MutexGuard;
use crate::sync::error::WaitTimeoutResult;
use crate::sync::raw::attempt;
use crate::sync::raw::condition::RawCondition;

/// `parking_lot::Condvar` for virtual threads, to be used with this module's [`Mutex`](super::Mutex).
///
/// ```
/// use std::sync::Arc;
/// use vt_runtime::sync::parking_lot::{Condvar, Mutex};
/// use vt_runtime::thread;
///
/// let pair = Arc::new((Mutex::new(false), Condvar::new()));
/// let other = Arc::clone(&pair);
/// let setter = thread::spawn(move || {
///     *other.0.lock() = true;
///     other.1.notify_one();
/// });
/// let mut started = pair.0.lock();
/// pair.1.wait_while(&mut started, |started| !*started);
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
    /// # Panics
    ///
    /// If others wait for this condition with another mutex.
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        guard.wait(&self.raw, None);
    }

    /// [`wait`](Self::wait) for at most `timeout`.
    ///
    /// # Pinning
    ///
    /// As `wait`.
    #[track_caller]
    pub fn wait_for<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        WaitTimeoutResult::new(!guard.wait(&self.raw, attempt::deadline_in(timeout)))
    }

    /// [`wait`](Self::wait) until `deadline` at the latest.
    ///
    /// # Pinning
    ///
    /// As `wait`.
    #[track_caller]
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Instant,
    ) -> WaitTimeoutResult {
        WaitTimeoutResult::new(!guard.wait(&self.raw, Some(deadline)))
    }

    /// Waits as long as `condition` holds.
    ///
    /// # Pinning
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_while<T: ?Sized, F>(&self, guard: &mut MutexGuard<'_, T>, mut condition: F)
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            self.wait(guard);
        }
    }

    /// Waits as long as `condition` holds, for at most `timeout`. Timed out means that it held to the end.
    ///
    /// # Pinning
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_while_for<T: ?Sized, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Duration,
    ) -> WaitTimeoutResult
    where
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_to(guard, condition, attempt::deadline_in(timeout))
    }

    /// Waits as long as `condition` holds, until `deadline` at the latest. Timed out means that it held to the end.
    ///
    /// # Pinning
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_while_until<T: ?Sized, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        deadline: Instant,
    ) -> WaitTimeoutResult
    where
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_to(guard, condition, Some(deadline))
    }

    #[track_caller]
    fn wait_while_to<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
        deadline: Option<Instant>,
    ) -> WaitTimeoutResult {
        while condition(&mut *guard) {
            if !guard.wait(&self.raw, deadline) {
                return WaitTimeoutResult::new(condition(&mut *guard));
            }
        }
        WaitTimeoutResult::new(false)
    }

    /// Wakes one that waits: the one who has waited longest and is able to run. Those before it whose carrier
    /// cannot run them are woken with it. True if anybody waited.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn notify_one(&self) -> bool {
        self.raw.notify_one()
    }

    /// Wakes all that wait and says how many.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn notify_all(&self) -> usize {
        self.raw.notify_all()
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
        f.pad("Condvar { .. }")
    }
}
