//! The locks of the `parking_lot` crate, in its shapes, for virtual threads: waiting for them unmounts, holding
//! them over a wait does not pin.
//!
//! They have what is used most: locking, trying, time-outs, `const` constructors, mapped guards, fair unlocking and
//! bumping. What is missing (raw access, `Arc` guards, upgradable reads) is missing on purpose: a program that
//! needs it does not compile, instead of doing something else.

mod condvar;
mod mutex;
mod reentrant_mutex;
mod rw_lock;

pub use super::error::WaitTimeoutResult;
pub use condvar::Condvar;
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, const_mutex};
pub use reentrant_mutex::{ReentrantMutex, ReentrantMutexGuard, const_reentrant_mutex};
pub use rw_lock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    const_rwlock,
};

/// `Deref` (and `DerefMut`), `Debug` and `Display` of a guard through its value.
macro_rules! guard_like_its_value {
    ($guard:ident) => {
        impl<T: ?Sized> std::ops::Deref for $guard<'_, T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                &self.held
            }
        }

        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + std::fmt::Display> std::fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
    (mut $guard:ident) => {
        guard_like_its_value!($guard);

        impl<T: ?Sized> std::ops::DerefMut for $guard<'_, T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                &mut self.held
            }
        }
    };
}
use guard_like_its_value;
