//! Poisoning as in std: a lock whose writer panicked says so to the next one.
//!
//! A cancelled thread unwinds too, but orderly and on request, so it does not poison.

use std::sync::atomic::{AtomicBool, Ordering};

/// The mark of one lock.
#[derive(Debug)]
pub(crate) struct Poison {
    failed: AtomicBool,
}

/// Whether the thread was unwinding already when it took the lock: then a later look tells nothing new.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    was_panicking: bool,
}

impl Poison {
    pub(crate) const fn new() -> Self {
        Self {
            failed: AtomicBool::new(false),
        }
    }

    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        // The lock itself orders this after the guard that set it.
        self.failed.load(Ordering::Relaxed)
    }

    pub(crate) fn clear(&self) {
        self.failed.store(false, Ordering::Relaxed);
    }

    /// The lock was taken.
    #[inline]
    pub(crate) fn watch(&self) -> Watch {
        Watch {
            was_panicking: std::thread::panicking(),
        }
    }

    /// The lock is about to be released.
    #[inline]
    pub(crate) fn settle(&self, watch: Watch) {
        if !watch.was_panicking
            && std::thread::panicking()
            && !crate::carrier::current::is_being_cancelled()
        {
            self.failed.store(true, Ordering::Relaxed);
        }
    }
}
