//! The locks, waits and cells of `std::sync`, and the runtime's own monitor.

use std::sync as original;

use super::swap;
use crate::sync;

/// Answers for pairs of types of the same shape, and for the park-aware one with itself.
macro_rules! pairs {
    ($([$($generics:tt)*] $from:ty => $to:ty;)+) => {
        swap! { $([$($generics)*] $from => $to;)+ }
        swap! { $([$($generics)*] $to => Self;)+ }
    };
}

pairs! {
    [T: ?Sized] original::Mutex<T> => sync::Mutex<T>;
    ['a, T: ?Sized] original::MutexGuard<'a, T> => sync::MutexGuard<'a, T>;
    [T: ?Sized] original::RwLock<T> => sync::RwLock<T>;
    ['a, T: ?Sized] original::RwLockReadGuard<'a, T> => sync::RwLockReadGuard<'a, T>;
    ['a, T: ?Sized] original::RwLockWriteGuard<'a, T> => sync::RwLockWriteGuard<'a, T>;
    [] original::Condvar => sync::Condvar;
    [] original::WaitTimeoutResult => sync::WaitTimeoutResult;
    [] original::Barrier => sync::Barrier;
    [] original::BarrierWaitResult => sync::BarrierWaitResult;
    [] original::Once => sync::Once;
    [] original::OnceState => sync::OnceState;
    [T] original::OnceLock<T> => sync::OnceLock<T>;
    [T, F] original::LazyLock<T, F> => sync::LazyLock<T, F>;
    [T: ?Sized] sync::Monitor<T> => sync::ReentrantMonitor<T>;
    ['a, T: ?Sized] sync::MonitorGuard<'a, T> => sync::ReentrantMonitorGuard<'a, T>;
}
