//! The locks and waits of the `parking_lot` crate, in the version the runtime itself uses.

use ::parking_lot as original;

use super::{Swap, swap};
use crate::sync::parking_lot;

swap! {
    [T: ?Sized] original::Mutex<T> => parking_lot::Mutex<T>;
    ['a, T: ?Sized] original::MutexGuard<'a, T> => parking_lot::MutexGuard<'a, T>;
    ['a, T: ?Sized] original::MappedMutexGuard<'a, T> => parking_lot::MappedMutexGuard<'a, T>;
    [T: ?Sized] original::RwLock<T> => parking_lot::RwLock<T>;
    ['a, T: ?Sized] original::RwLockReadGuard<'a, T> => parking_lot::RwLockReadGuard<'a, T>;
    ['a, T: ?Sized] original::RwLockWriteGuard<'a, T> => parking_lot::RwLockWriteGuard<'a, T>;
    ['a, T: ?Sized] original::MappedRwLockReadGuard<'a, T> => parking_lot::MappedRwLockReadGuard<'a, T>;
    ['a, T: ?Sized] original::MappedRwLockWriteGuard<'a, T> => parking_lot::MappedRwLockWriteGuard<'a, T>;
    [] original::Condvar => parking_lot::Condvar;
    [T: ?Sized] original::ReentrantMutex<T> => parking_lot::ReentrantMutex<T>;
    ['a, T: ?Sized] original::ReentrantMutexGuard<'a, T> => parking_lot::ReentrantMutexGuard<'a, T>;
}

// Its counterpart is std's as well, which answers with itself there.
#[diagnostic::do_not_recommend]
impl Swap for original::WaitTimeoutResult {
    type To = parking_lot::WaitTimeoutResult;
}
