//! The atomics and locks of the protocols that are model-checked: std's and parking_lot's, or loom's.
//!
//! The only place outside test modules that looks at `cfg(loom)`. With them stands what is built from nothing else:
//! the bell that wakes a sleeper, and values of forgotten type.

mod bell;
mod parcel;

pub(crate) use bell::Bell;
pub(crate) use parcel::{Body, Parcel};

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(not(loom))]
pub(crate) use std::thread::yield_now;

#[cfg(not(loom))]
pub(crate) use parking_lot::Mutex;

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(loom)]
pub(crate) use loom::thread::yield_now;

#[cfg(loom)]
pub(crate) use modelled::Mutex;

#[cfg(loom)]
mod modelled {
    use loom::sync::MutexGuard;

    /// parking_lot's shape over loom's lock.
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("a model does not go on after a panic")
        }

        pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }
    }
}

/// What the locks are made of, whose constructors are `const`, as loom's are not. `tests/models` runs their sources on
/// a stand-in of this.
pub(crate) mod constant {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
    pub(crate) use std::time::Instant;

    pub(crate) use parking_lot::{Mutex, MutexGuard};

    /// How often a thread looks at a lock once more, with growing pauses, before it waits.
    pub(crate) const fn spins() -> u32 {
        4
    }
}
