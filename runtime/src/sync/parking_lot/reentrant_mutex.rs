//! `ReentrantMutex` in parking_lot's shape: a [`ReentrantLock`] under that crate's method names.

use std::fmt;
use std::time::{Duration, Instant};

use super::guard_like_its_value;
use crate::sync::{ReentrantLock, ReentrantLockGuard};

/// `parking_lot::ReentrantMutex` for virtual threads, owned by the virtual thread that locked it.
///
/// ```
/// use vt_runtime::sync::parking_lot::ReentrantMutex;
///
/// let lock = ReentrantMutex::new(5);
/// let outer = lock.lock();
/// assert_eq!(*lock.lock() + *outer, 10);
/// ```
pub struct ReentrantMutex<T: ?Sized> {
    lock: ReentrantLock<T>,
}

/// One level in a [`ReentrantMutex`], given back when dropped.
#[must_use = "the mutex is unlocked when its guard is dropped"]
pub struct ReentrantMutexGuard<'a, T: ?Sized> {
    held: ReentrantLockGuard<'a, T>,
}

/// An unlocked mutex around `value`, as [`ReentrantMutex::new`].
///
/// # Pinning
///
/// Never waits.
#[must_use]
pub const fn const_reentrant_mutex<T>(value: T) -> ReentrantMutex<T> {
    ReentrantMutex::new(value)
}

impl<T> ReentrantMutex<T> {
    /// An unlocked mutex around `value`.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            lock: ReentrantLock::new(value),
        }
    }

    /// The value, without a mutex.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn into_inner(self) -> T {
        self.lock.into_inner()
    }
}

impl<T: ?Sized> ReentrantMutex<T> {
    /// Locks, waiting if another thread has it locked. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned. Holding the lock does not pin.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> ReentrantMutexGuard<'_, T> {
        ReentrantMutexGuard {
            held: self.lock.lock(),
        }
    }

    /// Locks if no other thread has it locked.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[inline]
    pub fn try_lock(&self) -> Option<ReentrantMutexGuard<'_, T>> {
        self.lock
            .try_lock()
            .map(|held| ReentrantMutexGuard { held })
    }

    /// Locks if that is possible within `timeout`. An interrupt ends the wait too, and the flag stays set.
    ///
    /// # Pinning
    ///
    /// As [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock_for(&self, timeout: Duration) -> Option<ReentrantMutexGuard<'_, T>> {
        self.lock
            .try_lock_for(timeout)
            .map(|held| ReentrantMutexGuard { held })
    }

    /// Locks if that is possible before `deadline`. An interrupt ends the wait too, and the flag stays set.
    ///
    /// # Pinning
    ///
    /// As [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock_until(&self, deadline: Instant) -> Option<ReentrantMutexGuard<'_, T>> {
        self.try_lock_for(deadline.saturating_duration_since(Instant::now()))
    }

    /// Is it locked at this moment?
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn is_locked(&self) -> bool {
        self.lock.is_locked()
    }

    /// Is it locked by the calling thread?
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn is_owned_by_current_thread(&self) -> bool {
        self.lock.is_held()
    }

    /// The value; having the mutex to oneself needs no locking.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn get_mut(&mut self) -> &mut T {
        self.lock.get_mut()
    }
}

guard_like_its_value!(ReentrantMutexGuard);

impl<T: Default> Default for ReentrantMutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for ReentrantMutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ReentrantMutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ReentrantMutex");
        match self.try_lock() {
            Some(guard) => out.field("data", &&*guard),
            None => out.field("data", &format_args!("<locked>")),
        };
        out.finish()
    }
}
