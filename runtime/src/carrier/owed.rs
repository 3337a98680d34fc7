//! A call that a carrier owes the next waiter of a lock.
//!
//! A thread that frees a lock whose next waiter lives on the same carrier need not call it at once: it cannot be mounted
//! before the thread leaves. If the thread has taken the lock again by then, the call would have been in vain: a
//! mount, a look at the lock, and a wait anew.
//!
//! ```text
//!   mounted thread:  frees the lock: take_on ── takes it again: waive
//!   carrier:         the thread has left, pins or enters foreign code: pay
//!   watchdog:        the thread computes: call_for
//! ```
//!
//! **Invariant (no lost wake-up):** from `take_on` to `waive` or `pay` the debt is visible to all. `waive` is right because
//! whoever holds the lock calls when it frees it; `pay` calls. Only the carrier's OS thread clears the debt, so that none is
//! cleared that another thread has not seen. A call too many is harmless, as everywhere.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::park::PassOn;
use crate::primitive::{AtomicBool, AtomicUsize, Ordering};

/// One call in so many is made at once: who waits must find out for how long it has lost.
const MADE: usize = 32;

/// See the module's documentation.
#[derive(Default)]
pub(super) struct Owed {
    owes: AtomicBool,
    /// To which queue. It stays after the debt is paid: the next one is mostly to the same.
    queue: Mutex<Option<Arc<dyn PassOn>>>,
    /// Its address, for the carrier itself.
    address: AtomicUsize,
    count: AtomicUsize,
}

impl Owed {
    /// Mounted thread: the next waiter of `queue` will be called before another thread is mounted. False if not.
    pub(super) fn take_on<Q: PassOn + 'static>(&self, queue: &Arc<Q>) -> bool {
        let count = self.count.load(Ordering::Relaxed).wrapping_add(1);
        self.count.store(count, Ordering::Relaxed);
        if count.is_multiple_of(MADE) {
            return false;
        }
        let address = Arc::as_ptr(queue).addr();
        if self.address.load(Ordering::Relaxed) != address {
            // One at a time.
            if self.owes.load(Ordering::Relaxed) {
                return false;
            }
            let before = self.queue.lock().replace(Arc::<Q>::clone(queue));
            drop(before);
            self.address.store(address, Ordering::Relaxed);
        }
        self.owes.store(true, Ordering::Release);
        true
    }

    /// Mounted thread: it has taken what it gave back.
    pub(super) fn waive<Q>(&self, queue: &Arc<Q>) {
        if self.address.load(Ordering::Relaxed) == Arc::as_ptr(queue).addr() {
            self.owes.store(false, Ordering::Relaxed);
        }
    }

    /// The carrier: makes the call if one is owed.
    #[inline]
    pub(super) fn pay(&self) {
        if self.owes.load(Ordering::Relaxed) {
            self.call();
            self.owes.store(false, Ordering::Relaxed);
        }
    }

    /// Anybody, for a carrier that may not pay soon.
    pub(super) fn call_for(&self) {
        if self.owes.load(Ordering::Acquire) {
            self.call();
        }
    }

    #[cold]
    fn call(&self) {
        let queue = self.queue.lock().clone();
        if let Some(queue) = queue {
            queue.call_next();
        }
    }

    /// The carrier ends.
    pub(super) fn forget(&self) {
        let queue = self.queue.lock().take();
        drop(queue);
        self.address.store(0, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Queue(AtomicUsize);

    impl Queue {
        fn calls(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    impl PassOn for Queue {
        fn pass_on(self: Arc<Self>, _: u64) {}

        fn call_next(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_debt_is_paid_once_or_waived_and_only_one_is_taken_on() {
        let (owed, one, other) = (Owed::default(), Arc::default(), Arc::<Queue>::default());
        assert!(owed.take_on::<Queue>(&one) && owed.take_on(&one));
        assert!(!owed.take_on(&other), "it owes another");
        owed.waive(&other);
        owed.pay();
        owed.pay();
        assert_eq!((one.calls(), other.calls()), (1, 0));
        assert!(owed.take_on(&other));
        owed.waive(&other);
        owed.pay();
        assert_eq!((one.calls(), other.calls()), (1, 0));
    }

    #[test]
    fn another_may_call_and_the_debt_stays() {
        let (owed, queue) = (Owed::default(), Arc::<Queue>::default());
        owed.call_for();
        assert!(owed.take_on(&queue));
        owed.call_for();
        owed.pay();
        assert_eq!(queue.calls(), 2);
    }

    #[test]
    fn one_in_many_is_called_at_once() {
        let (owed, queue) = (Owed::default(), Arc::<Queue>::default());
        let taken = (0..MADE).filter(|_| owed.take_on(&queue)).count();
        assert_eq!(taken, MADE - 1);
        owed.forget();
        assert_eq!(Arc::strong_count(&queue), 1);
    }
}
