//! What others put down for one carrier: threads it is to mount, or to start.
//!
//! ```text
//!   anybody: put: push, filled = true ; then ring the carrier's bell
//!   carrier: take: filled? -> filled = false, take all       before it sleeps: asleep = true ; fence ; filled?
//! ```
//!
//! **Invariant (nothing is left behind):** `filled` is true from after a push until a take that begins later. It is
//! cleared under the lock and before the things are taken, so a push that this take misses sets it again. It may be
//! true for nothing: a take that came between a push and its mark has taken that thing already. That it is seen
//! before a sleep is the bell's argument.

use crate::primitive::{AtomicBool, Mutex, Ordering};

/// See the module's documentation.
pub(super) struct Inbox<T> {
    things: Mutex<Vec<T>>,
    filled: AtomicBool,
}

impl<T> Inbox<T> {
    pub(super) fn new() -> Self {
        Self {
            things: Mutex::new(Vec::new()),
            filled: AtomicBool::new(false),
        }
    }

    /// Anybody; the caller rings the carrier's bell afterwards.
    pub(super) fn put(&self, thing: T) {
        self.things.lock().push(thing);
        self.filled.store(true, Ordering::Release);
    }

    /// Has anything been put down and not taken? Perhaps true for nothing, never false for something.
    pub(super) fn is_filled(&self) -> bool {
        self.filled.load(Ordering::Acquire)
    }

    /// The carrier: takes all; returns how many.
    pub(super) fn take_into(&self, into: &mut impl Extend<T>) -> usize {
        if !self.is_filled() {
            return 0;
        }
        let mut things = self.things.lock();
        self.filled.store(false, Ordering::Relaxed);
        let count = things.len();
        into.extend(things.drain(..));
        count
    }

    pub(super) fn len(&self) -> usize {
        self.things.lock().len()
    }
}

#[cfg(all(test, loom))]
mod loom {
    //! Two who deliver and a carrier that sleeps in between; what is left behind shows as a deadlock.

    use ::loom::sync::Arc;
    use ::loom::thread;

    use super::*;
    use crate::primitive::Bell;

    #[test]
    fn nothing_is_left_behind() {
        let mut model = ::loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let shared = Arc::new((Inbox::new(), Bell::new()));
            let carrier = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (inbox, bell) = &*shared;
                    let mut taken = Vec::new();
                    while taken.len() < 2 {
                        if inbox.take_into(&mut taken) == 0 && bell.lie_down(|| inbox.is_filled()) {
                            thread::park();
                            bell.get_up();
                        }
                    }
                    taken
                })
            };
            let deliver = |thread, carrier: &thread::Thread, shared: &(Inbox<u32>, Bell)| {
                shared.0.put(thread);
                if shared.1.ring() {
                    carrier.unpark();
                }
            };
            let other = {
                let (shared, carrier) = (Arc::clone(&shared), carrier.thread().clone());
                thread::spawn(move || deliver(1, &carrier, &shared))
            };
            deliver(2, carrier.thread(), &shared);
            other.join().expect("it ends");
            let mut taken = carrier.join().expect("it ends");
            taken.sort_unstable();
            assert_eq!(taken, [1, 2]);
        });
    }
}
