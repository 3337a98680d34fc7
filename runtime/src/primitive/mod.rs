//! The atomics and locks of the protocols that are model-checked: std's and parking_lot's, or loom's.
//!
//! The only place outside test modules that looks at `cfg(loom)`. With them stands what is built from nothing else:
//! the bell that wakes a sleeper.

mod bell;

pub(crate) use bell::Bell;

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};

/// What the locks are made of, whose constructors are `const`, as loom's are not. `tests/models` runs their sources on
/// a stand-in of this.
pub(crate) mod constant {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
    pub(crate) use std::time::Instant;

    pub(crate) use parking_lot::{Mutex, MutexGuard};

    /// How often a thread looks again at a lock, with growing pauses, before it waits.
    pub(crate) const fn spins() -> u32 {
        5
    }
}
