//! The atomics and locks of the protocols that are model-checked: std's and parking_lot's, or loom's.
//!
//! The only place outside test modules that looks at `cfg(loom)`. With them stands what is built from nothing else:
//! the bell that wakes a sleeper.

mod bell;

pub(crate) use bell::Bell;

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
