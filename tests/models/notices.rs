//! Conditions: a notice that is given reaches somebody, and the lock is held again after each wait.

use std::sync::Arc;

use crate::event::Operation;
use crate::locks::{Guarded, guarded, hold};
use crate::primitive::constant::{AtomicU32, Ordering};
use crate::sync::raw::attempt::{Attempt, Clock, strike};
use crate::sync::raw::condition::RawCondition;
use crate::{model, on};

/// A number under a lock, and its condition.
pub(crate) struct Counter {
    guarded: Guarded,
    changed: RawCondition,
    /// Relaxed throughout: the lock orders it.
    count: AtomicU32,
}

impl Counter {
    pub(crate) fn new() -> Arc<Self> {
        let counter = Self {
            guarded: guarded(false),
            changed: RawCondition::new(),
            count: AtomicU32::new(0),
        };
        counter.set(0);
        Arc::new(counter)
    }

    fn count(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    fn set(&self, count: u32) {
        self.count.store(count, Ordering::Relaxed);
    }

    pub(crate) fn add(&self) {
        let held = hold(&self.guarded);
        self.set(self.count() + 1);
        drop(held);
        self.changed.notify_one();
    }

    pub(crate) fn take(&self) {
        let mut held = hold(&self.guarded);
        while self.count() == 0 {
            let waited = held.wait(&self.changed, &mut Attempt::new(Operation::Lock));
            assert_eq!(waited, Ok(()));
            held.change();
        }
        self.set(self.count() - 1);
    }

    /// Takes one if there is one before the deadline.
    fn take_timed(&self, clock: &Clock) -> bool {
        let mut held = hold(&self.guarded);
        if self.count() == 0 {
            let _ = held.wait(
                &self.changed,
                &mut Attempt::new(Operation::Lock).timed_by(clock),
            );
            held.change();
        }
        let got = self.count() > 0;
        if got {
            self.set(self.count() - 1);
        }
        got
    }
}

#[test]
fn a_notice_is_not_lost() {
    model(2, 0, || {
        let counter = Counter::new();
        let (taker, adder) = (Arc::clone(&counter), counter);
        vec![
            on(None, move || taker.take()),
            on(None, move || adder.add()),
        ]
    });
}

#[test]
fn two_notices_reach_two_waiters() {
    model(1, 0, || {
        let counter = Counter::new();
        let (one, two) = (Arc::clone(&counter), Arc::clone(&counter));
        vec![
            on(None, move || one.take()),
            on(None, move || two.take()),
            on(None, move || {
                counter.add();
                counter.add();
            }),
        ]
    });
}

#[test]
fn a_waiter_that_times_out_passes_its_notice_on() {
    model(1, 0, || {
        let counter = Counter::new();
        let clock = Clock::default();
        let (timed, timed_clock) = (Arc::clone(&counter), Arc::clone(&clock));
        let taker = Arc::clone(&counter);
        vec![
            on(None, move || {
                if timed.take_timed(&timed_clock) {
                    // What it took is owed to the other one.
                    timed.add();
                }
            }),
            on(None, move || taker.take()),
            on(None, move || {
                counter.add();
                strike(&clock);
            }),
        ]
    });
}
