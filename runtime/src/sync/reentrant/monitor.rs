//! [`ReentrantMonitor`]: `Monitor`'s methods over a lock that does not pin.

use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use super::condition::Condition;
use super::guard::ReentrantLockGuard;
use super::lock::ReentrantLock;
use crate::sync::error::{WaitError, WaitTimeoutResult};

/// A [`Monitor`](super::super::Monitor) that does not pin: a [`ReentrantLock`] with one [`Condition`].
///
/// It has `Monitor`'s methods, so the repair of a pin can be a change of one type;
/// `#[park_safe(monitor = "reentrant")]` makes just that. It is not for what belongs to an OS thread (a
/// native library's per-thread state): while the holder waits, its neighbours on the carrier run.
///
/// ```
/// use std::cell::Cell;
/// use vt_runtime::sync::ReentrantMonitor;
///
/// let orders = ReentrantMonitor::new(Cell::new(0));
/// let guard = orders.enter();
/// guard.set(guard.get() + 1);
/// ```
pub struct ReentrantMonitor<T: ?Sized> {
    condition: Condition,
    lock: ReentrantLock<T>,
}

impl<T> ReentrantMonitor<T> {
    /// A free monitor around `value`.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            condition: Condition::new(),
            lock: ReentrantLock::new(value),
        }
    }

    /// A monitor that events and dumps call `name`.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn named(name: &'static str, value: T) -> Self {
        Self {
            condition: Condition::new(),
            lock: ReentrantLock::named(name, value),
        }
    }

    /// The value, without a monitor.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn into_inner(self) -> T {
        self.lock.into_inner()
    }
}

impl<T: ?Sized> ReentrantMonitor<T> {
    /// Enters, waiting if another thread is inside.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned. Being inside does not pin.
    #[inline]
    #[track_caller]
    pub fn enter(&self) -> ReentrantMonitorGuard<'_, T> {
        ReentrantMonitorGuard {
            guard: self.lock.lock(),
        }
    }

    /// Enters if no other thread is inside.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn try_enter(&self) -> Option<ReentrantMonitorGuard<'_, T>> {
        self.lock
            .try_lock()
            .map(|guard| ReentrantMonitorGuard { guard })
    }

    /// Waits for a notice, outside; inside again, as deep as before, when it returns. It may return without a
    /// notice.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned.
    ///
    /// # Errors
    ///
    /// [`WaitError::Interrupted`] if the thread is interrupted first; its flag is clear then.
    ///
    /// # Panics
    ///
    /// If `guard` is another monitor's.
    #[track_caller]
    pub fn wait(&self, guard: &mut ReentrantMonitorGuard<'_, T>) -> Result<(), WaitError> {
        self.check(guard);
        self.condition.wait(&mut guard.guard)
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
    pub fn wait_timeout(
        &self,
        guard: &mut ReentrantMonitorGuard<'_, T>,
        timeout: Duration,
    ) -> Result<WaitTimeoutResult, WaitError> {
        self.check(guard);
        self.condition.wait_timeout(&mut guard.guard, timeout)
    }

    /// Wakes one that waits.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn notify_one(&self) {
        self.condition.notify_one();
    }

    /// Wakes all that wait.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn notify_all(&self) {
        self.condition.notify_all();
    }

    /// How many guards of the monitor the calling thread has.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn hold_count(&self) -> u32 {
        self.lock.hold_count()
    }

    /// The value; having the monitor to oneself needs no entering.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn get_mut(&mut self) -> &mut T {
        self.lock.get_mut()
    }

    #[track_caller]
    fn check(&self, guard: &ReentrantMonitorGuard<'_, T>) {
        let (of, this) = (guard.guard.lock.subject(), self.lock.subject());
        assert!(of == this, "{this:?} is waited for with a guard of {of:?}");
    }
}

impl<T: Default> Default for ReentrantMonitor<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for ReentrantMonitor<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ReentrantMonitor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReentrantMonitor")
            .field("lock", &&self.lock)
            .finish_non_exhaustive()
    }
}

/// One level in a [`ReentrantMonitor`], given back when dropped. Stays on the thread that entered.
#[must_use = "the monitor is left when its guard is dropped"]
pub struct ReentrantMonitorGuard<'a, T: ?Sized> {
    guard: ReentrantLockGuard<'a, T>,
}

impl<T: ?Sized> Deref for ReentrantMonitorGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ReentrantMonitorGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for ReentrantMonitorGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
