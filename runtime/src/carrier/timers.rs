//! Deadlines of one carrier, in order: insert and cancel in O(log n), nothing left behind by a cancel.

use std::collections::BTreeMap;

use crate::park::Waiter;

/// Names one pending deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timer {
    /// On the runtime's clock, in nanoseconds.
    deadline: u64,
    sequence: u64,
}

/// The pending deadlines.
#[derive(Default)]
pub(crate) struct Timers {
    pending: BTreeMap<Timer, Waiter>,
    sequence: u64,
}

impl Timers {
    pub(crate) fn insert(&mut self, deadline: u64, waiter: Waiter) -> Timer {
        self.sequence += 1;
        let timer = Timer {
            deadline,
            sequence: self.sequence,
        };
        self.pending.insert(timer, waiter);
        timer
    }

    /// Forgets a deadline; one that has fired is gone already.
    pub(crate) fn cancel(&mut self, timer: Timer) {
        self.pending.remove(&timer);
    }

    /// When the earliest deadline is due.
    pub(crate) fn next(&self) -> Option<u64> {
        self.pending
            .first_key_value()
            .map(|(timer, _)| timer.deadline)
    }

    /// Takes the earliest waiter whose deadline has passed.
    pub(crate) fn pop_due(&mut self, now: u64) -> Option<Waiter> {
        let entry = self
            .pending
            .first_entry()
            .filter(|entry| entry.key().deadline <= now)?;
        Some(entry.remove())
    }
}
