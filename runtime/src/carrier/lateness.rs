//! How late the kernel ends a carrier's timed sleeps, so that it can be asked to end them that much earlier.
//!
//! A timed sleep ends late by the thread's timer slack (50 µs) and by what it takes to wake a halted core: some 90 µs on a
//! virtual machine, a tenth of a sleep of 1 ms. A carrier asks for its wake-up as much earlier as it has been late of
//! late, and spins over what is left to the deadline: mostly next to nothing, since it is late again.
//!
//! Deadlines that were set one after the other are due one after the other, a microsecond or two apart. A sleep from one to the next
//! would make all others as late as it ends, so the carrier spins from one to the next.
//!
//! **Bound:** a sleep is shortened by at most [`MOST`] and by less than half, so a carrier never spins for longer before a
//! timer, and sleeps for longer than it spins. Instead of a sleep it spins only where that takes as little as the sleep's own calls, and over all
//! for a quarter of the time that it has slept.

use std::cell::Cell;

/// Nanoseconds that a sleep is shortened by at most. What is later than that is late because the machine is busy, and
/// spinning would make it busier.
const MOST: u64 = 100_000;
/// One sleep counts for so much of the whole.
const WEIGHT: u64 = 8;
/// Nanoseconds that are spun over instead of slept.
const SHORT: u64 = 20_000;
/// For so many nanoseconds slept, one may be spun.
const SLEPT_FOR_SPUN: u64 = 4;

/// See the module's documentation.
#[derive(Default)]
pub(super) struct Lateness {
    late: Cell<u64>,
    /// Nanoseconds that may be spun instead of slept.
    credit: Cell<u64>,
}

impl Lateness {
    /// When a sleep that begins now and must not last beyond `due` should end.
    pub(super) fn ask_for(&self, due: u64, now: u64) -> u64 {
        let late = self.late.get();
        if due.saturating_sub(now) > 2 * late {
            due - late
        } else {
            due
        }
    }

    /// Is `due` so near that the carrier should not sleep? It then spins until `due`.
    pub(super) fn is_near(&self, due: u64, now: u64) -> bool {
        let left = due.saturating_sub(now);
        let credit = self.credit.get();
        let is_near = left <= SHORT.min(credit);
        if is_near {
            self.credit.set(credit - left);
        }
        is_near
    }

    /// It has slept for that long.
    pub(super) fn slept(&self, nanos: u64) {
        let credit = self.credit.get() + nanos / SLEPT_FOR_SPUN;
        self.credit.set(credit.min(MOST));
    }

    /// A sleep that was to end at `due` has ended by time, at `now`.
    pub(super) fn learn(&self, due: u64, now: u64) {
        let late = now.saturating_sub(due).min(MOST);
        let known = self.late.get();
        // Rounded up or down towards what was seen, so that it gets there.
        let next = if late > known {
            known + (late - known).div_ceil(WEIGHT)
        } else {
            known - (known - late).div_ceil(WEIGHT)
        };
        self.late.set(next);
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
    #[test]
    fn it_spins_over_short_gaps_for_a_part_of_what_it_slept() {
        let lateness = Lateness::default();
        assert!(!lateness.is_near(1_000, 0), "it has not slept yet");
        lateness.slept(400_000);
        assert!(!lateness.is_near(50_000, 0), "that is worth a sleep");
        let spun = (0..100).filter(|_| lateness.is_near(20_000, 0)).count();
        assert_eq!(spun, 5);
        lateness.slept(u64::from(u32::MAX));
        let spun = (0..100).filter(|_| lateness.is_near(20_000, 0)).count();
        assert_eq!(spun, 5, "no more than that at a time");
        assert!(lateness.is_near(7, 9), "over already");
    }
}
