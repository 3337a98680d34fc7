//! Deadlines of one carrier, in order: insert and cancel in O(log n), nothing left behind by a cancel.
//!
//! Each is due at its nanosecond, and is over at the carrier's next look after that. But who has waited for long need not be
//! woken for alone: a carrier that sleeps does so until a short wait is due, or a long one has been for [`SLACK`], so that the
//! ends of thousands of long waits share a wake-up with each other and with what comes in between.

use std::collections::BTreeMap;

use crate::park::Waiter;

/// A wait of so many nanoseconds is a long one.
const LONG: u64 = 100_000_000;
/// So many nanoseconds late it may end where its carrier sleeps: half a hundredth of it at most.
const SLACK: u64 = 500_000;
/// Deadlines looked at to find when a carrier must be awake, at most.
const LOOKED_AT: usize = 32;

/// Until when a carrier may sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wake {
    pub(super) at: u64,
    /// It is a deadline, which the carrier should not be late for.
    pub(super) is_exact: bool,
}

/// Names one pending deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timer {
    /// On the runtime's clock, in nanoseconds.
    deadline: u64,
    /// Which one of them, twice; and one more for a long wait.
    sequence: u64,
}

impl Timer {
    fn is_long(self) -> bool {
        self.sequence % 2 == 1
    }
}

/// The pending deadlines.
#[derive(Default)]
pub(crate) struct Timers {
    pending: BTreeMap<Timer, Waiter>,
    sequence: u64,
}

impl Timers {
    /// `length` is how long the whole wait is to last.
    pub(crate) fn insert(&mut self, deadline: u64, length: u64, waiter: Waiter) -> Timer {
        self.sequence += 2;
        let timer = Timer {
            deadline,
            sequence: self.sequence + u64::from(length >= LONG),
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

    /// When a carrier that sleeps must be awake for the sake of these.
    pub(super) fn wake(&self) -> Option<Wake> {
        let mut wake: Option<Wake> = None;
        for (looked_at, timer) in self.pending.keys().enumerate() {
            if wake.is_some_and(|wake| wake.at <= timer.deadline) {
                break;
            }
            if !timer.is_long() || looked_at == LOOKED_AT {
                return Some(Wake {
                    at: timer.deadline,
                    is_exact: !timer.is_long(),
                });
            }
            wake = wake.or(Some(Wake {
                at: timer.deadline.saturating_add(SLACK),
                is_exact: false,
            }));
        }
        wake
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
    fn a_carrier_sleeps_past_long_waits_but_never_past_a_short_one() {
        let waiter = park::prepare();
        let mut timers = Timers::default();
        assert_eq!(timers.wake(), None);
        let wake = |at, is_exact| Some(Wake { at, is_exact });
        let first = timers.insert(1_000, LONG, waiter.clone());
        timers.insert(2_000, LONG, waiter.clone());
        assert_eq!(timers.wake(), wake(1_000 + SLACK, false));
        timers.cancel(first);
        assert_eq!(timers.wake(), wake(2_000 + SLACK, false));
        timers.insert(2_001 + SLACK, LONG - 1, waiter.clone());
        assert_eq!(timers.wake(), wake(2_000 + SLACK, false));
        let short = timers.insert(3_000, LONG - 1, waiter.clone());
        assert_eq!(timers.wake(), wake(3_000, true));
        timers.cancel(short);
        for _crowd in 0..LOOKED_AT {
            timers.insert(2_500, LONG, waiter.clone());
        }
        assert_eq!(timers.wake(), wake(2_500, false));
    }

    #[test]
    fn a_million_pending_deadlines_come_out_in_order_and_cancelled_ones_leave_nothing() {
        const MANY: u64 = 1_000_000;
        let waiter = park::prepare();
        let mut timers = Timers::default();
        // Deadlines in no order, many of them alike.
        let set: Vec<_> = (0..MANY)
            .map(|number| timers.insert(number * 7919 % 50_000, 0, waiter.clone()))
            .collect();
        for timer in set.iter().filter(|timer| timer.sequence % 8 != 0) {
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
