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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::park;

    #[test]
    fn a_million_pending_deadlines_come_out_in_order_and_cancelled_ones_leave_nothing() {
        const MANY: u64 = 1_000_000;
        let waiter = park::prepare();
        let mut timers = Timers::default();
        // Deadlines in no order, many of them alike.
        let set: Vec<_> = (0..MANY)
            .map(|number| timers.insert(number * 7919 % 50_000, waiter.clone()))
            .collect();
        for timer in set.iter().filter(|timer| timer.sequence % 4 != 0) {
            timers.cancel(*timer);
        }
        assert_eq!(timers.pending.len() as u64, MANY / 4);
        assert!(timers.pop_due(timers.next().expect("many") - 1).is_none());
        let mut last = 0;
        let mut fired = 0;
        while let Some(next) = timers.next() {
            assert!(next >= last, "in order");
            last = next;
            assert!(timers.pop_due(next).is_some());
            fired += 1;
        }
        assert_eq!(fired, MANY / 4);
    }
}
