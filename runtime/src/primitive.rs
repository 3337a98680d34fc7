//! The atomics and locks of the protocols that are model-checked: std's and parking_lot's, or loom's.
//!
//! The only place outside test modules that looks at `cfg(loom)`.

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
