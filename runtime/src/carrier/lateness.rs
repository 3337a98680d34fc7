//! How late the kernel ends a carrier's timed sleeps, so that it can be asked to end them that much earlier.
//!
//! A timed sleep ends late by the thread's timer slack (50 µs) and by what it takes to wake a halted core: some 90 µs on a
//! virtual machine, a tenth of a sleep of 1 ms. A carrier asks for its wake-up as much earlier as it has been late of
//! late, and spins over what is left to the deadline: mostly next to nothing, since it is late again.
//!
//! **Bound:** a sleep is shortened by at most [`MOST`] and by less than half, so a carrier never spins for longer before a
//! timer, and sleeps for longer than it spins.

use std::cell::Cell;

/// Nanoseconds that a sleep is shortened by at most. What is later than that is late because the machine is busy, and
/// spinning would make it busier.
const MOST: u64 = 100_000;
/// One sleep counts for so much of the whole.
const WEIGHT: u64 = 8;

/// See the module's documentation.
#[derive(Default)]
pub(super) struct Lateness(Cell<u64>);

impl Lateness {
    /// When a sleep that begins now and must not last beyond `due` should end.
    pub(super) fn ask_for(&self, due: u64, now: u64) -> u64 {
        let late = self.0.get();
        if due.saturating_sub(now) > 2 * late {
            due - late
        } else {
            due
        }
    }

    /// A sleep that was to end at `due` has ended by time, at `now`.
    pub(super) fn learn(&self, due: u64, now: u64) {
        let late = now.saturating_sub(due).min(MOST);
        let known = self.0.get();
        // Rounded up or down towards what was seen, so that it gets there.
        let next = if late > known {
            known + (late - known).div_ceil(WEIGHT)
        } else {
            known - (known - late).div_ceil(WEIGHT)
        };
        self.0.set(next);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_follows_what_is_seen_and_no_further_than_the_bound() {
        let lateness = Lateness::default();
        let by = |lateness: &Lateness| 1_000_000 - lateness.ask_for(1_000_000, 0);
        for _ in 0..100 {
            lateness.learn(1_000_000, 1_080_000);
        }
        assert_eq!(by(&lateness), 80_000);
        assert_eq!(lateness.ask_for(160_000, 0), 160_000, "not the half of it");
        lateness.learn(1_000_000, 9_000_000);
        assert!((80_001..=MOST).contains(&by(&lateness)));
        for _ in 0..200 {
            lateness.learn(1_000_000, 1_000_000);
        }
        assert_eq!(by(&lateness), 0);
    }
}
