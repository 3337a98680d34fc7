//! The guard of a [`ReentrantLock`].

use std::fmt;
use std::ops::Deref;

use super::lock::ReentrantLock;
use crate::sync::raw::level::Level;
use crate::sync::raw::reentrant::Reentrant;

/// One level in a [`ReentrantLock`], given back when dropped. Stays on the thread that took it.
#[must_use = "the lock is released when its guard is dropped"]
pub struct ReentrantLockGuard<'a, T: ?Sized> {
    pub(super) lock: &'a ReentrantLock<T>,
    pub(super) level: Level<'a, Reentrant>,
}

impl<T: ?Sized> Deref for ReentrantLockGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.lock.cell.open(&self.level)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ReentrantLockGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for ReentrantLockGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
