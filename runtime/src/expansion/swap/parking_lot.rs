//! The locks and waits of the `parking_lot` crate: in the version the runtime itself uses, and with the feature
//! `parking_lot_0_12` in the one before it.

use super::swap;
use crate::sync::parking_lot;

/// Answers for the types of one version of that crate; they have the same names and shapes in each.
macro_rules! version {
    ($original:ident) => {
        swap! {
            [T: ?Sized] $original::Mutex<T> => parking_lot::Mutex<T>;
            ['a, T: ?Sized] $original::MutexGuard<'a, T> => parking_lot::MutexGuard<'a, T>;
            ['a, T: ?Sized] $original::MappedMutexGuard<'a, T> => parking_lot::MappedMutexGuard<'a, T>;
            [T: ?Sized] $original::RwLock<T> => parking_lot::RwLock<T>;
            ['a, T: ?Sized] $original::RwLockReadGuard<'a, T> => parking_lot::RwLockReadGuard<'a, T>;
            ['a, T: ?Sized] $original::RwLockWriteGuard<'a, T> => parking_lot::RwLockWriteGuard<'a, T>;
            ['a, T: ?Sized] $original::MappedRwLockReadGuard<'a, T> => parking_lot::MappedRwLockReadGuard<'a, T>;
            ['a, T: ?Sized] $original::MappedRwLockWriteGuard<'a, T> => parking_lot::MappedRwLockWriteGuard<'a, T>;
            [] $original::Condvar => parking_lot::Condvar;
            [] $original::WaitTimeoutResult => parking_lot::WaitTimeoutResult;
            [T: ?Sized] $original::ReentrantMutex<T> => parking_lot::ReentrantMutex<T>;
            ['a, T: ?Sized] $original::ReentrantMutexGuard<'a, T> => parking_lot::ReentrantMutexGuard<'a, T>;
        }
    };
}

mod current {
    use ::parking_lot as original;

    use super::{parking_lot, swap};

    version!(original);
}

#[cfg(feature = "parking_lot_0_12")]
mod before {
    use ::parking_lot_0_12 as original;

    use super::{parking_lot, swap};

    version!(original);
}

// `WaitTimeoutResult` is std's as well, which answers with itself there.
swap! {
    [T: ?Sized] parking_lot::Mutex<T> => Self;
    ['a, T: ?Sized] parking_lot::MutexGuard<'a, T> => Self;
    ['a, T: ?Sized] parking_lot::MappedMutexGuard<'a, T> => Self;
    [T: ?Sized] parking_lot::RwLock<T> => Self;
    ['a, T: ?Sized] parking_lot::RwLockReadGuard<'a, T> => Self;
    ['a, T: ?Sized] parking_lot::RwLockWriteGuard<'a, T> => Self;
    ['a, T: ?Sized] parking_lot::MappedRwLockReadGuard<'a, T> => Self;
    ['a, T: ?Sized] parking_lot::MappedRwLockWriteGuard<'a, T> => Self;
    [] parking_lot::Condvar => Self;
    [T: ?Sized] parking_lot::ReentrantMutex<T> => Self;
    ['a, T: ?Sized] parking_lot::ReentrantMutexGuard<'a, T> => Self;
}
