//! "Go on when the other side has got there": what tests use instead of sleeping.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use vt_runtime::thread;

/// Opens once. Waiting for it yields, so that it works for virtual threads of one carrier and for OS threads.
#[derive(Clone, Default)]
pub struct Gate(Arc<AtomicBool>);

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody through from now on.
    pub fn open(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Is it open?
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Waits until it is open.
    pub fn pass(&self) {
        while !self.is_open() {
            thread::yield_now();
        }
    }

    /// Counts loop turns until it is open: a neighbour that shows whether a carrier mounts others.
    pub fn count_turns(&self, turns: &AtomicUsize) {
        while !self.is_open() {
            turns.fetch_add(1, Ordering::SeqCst);
            thread::yield_now();
        }
    }
}
