//! How many parks, starts and ends carriers may record in a second: what comes in floods tells little each.
//!
//! A carrier asks its own [`Budget`], two loads and a store, before it looks at a clock or writes anything. Whoever
//! reads fills the budgets again ([`Throttle::refill`]). **Invariant:** only the carrier writes `taken` and `left_out`,
//! only readers, under a lock, write `granted`, and both only grow; so neither undoes what the other did.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::lane::Lane;
use crate::event::{EventClass, Timestamp};

/// A budget without end.
const ENDLESS: u64 = u64::MAX;

/// One carrier's budget of one class.
#[derive(Debug)]
pub(in crate::event) struct Budget {
    /// Records allowed since the start.
    granted: AtomicU64,
    /// Records made of them.
    taken: AtomicU64,
    /// Records not made.
    left_out: AtomicU64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            granted: AtomicU64::new(ENDLESS),
            taken: AtomicU64::new(0),
            left_out: AtomicU64::new(0),
        }
    }
}

impl Budget {
    /// The carrier: whether one more may be recorded; counted either way.
    #[inline]
    pub(in crate::event) fn take(&self) -> bool {
        let taken = self.taken.load(Ordering::Relaxed);
        if taken < self.granted.load(Ordering::Relaxed) {
            self.taken.store(taken + 1, Ordering::Relaxed);
            true
        } else {
            self.leave_out();
            false
        }
    }

    /// The carrier: one is not recorded.
    #[inline]
    pub(in crate::event) fn leave_out(&self) {
        let left_out = self.left_out.load(Ordering::Relaxed);
        self.left_out.store(left_out + 1, Ordering::Relaxed);
    }

    /// Whether everything may be recorded.
    pub(in crate::event) fn is_endless(&self) -> bool {
        self.granted.load(Ordering::Relaxed) == ENDLESS
    }

    pub(in crate::event) fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// All that was asked for so far.
    fn asked(&self) -> u64 {
        self.taken.load(Ordering::Relaxed) + self.left_out()
    }

    /// A reader: allows `more`, so that at most `most` are left.
    fn grant(&self, more: u64, most: u64) {
        let taken = self.taken.load(Ordering::Relaxed);
        let granted = self.granted.load(Ordering::Relaxed);
        let left = granted.saturating_sub(taken).saturating_add(more).min(most);
        self.granted.store(taken + left, Ordering::Relaxed);
    }
}

/// What readers wish for, and when budgets were filled last.
#[derive(Debug, Default)]
pub(in crate::event) struct Throttle {
    /// By reader, the records a second of each class it is content with; `None` for a class it does not read.
    wishes: HashMap<u64, [Option<u32>; EventClass::COUNT]>,
    filled: Timestamp,
    /// What each carrier had asked for then.
    asked: HashMap<(usize, usize), u64>,
}

/// A reader that wants all.
pub(in crate::event) const ALL: u32 = u32::MAX;

impl Throttle {
    /// A reader wishes so from now on; none that is gone.
    pub(in crate::event) fn wish(
        &mut self,
        reader: u64,
        wish: Option<[Option<u32>; EventClass::COUNT]>,
        lanes: &[Lane],
    ) {
        match wish {
            Some(wish) => _ = self.wishes.insert(reader, wish),
            None => _ = self.wishes.remove(&reader),
        }
        for class in EventClass::ALL {
            let limit = self.limit(*class);
            for lane in lanes {
                let budget = lane.budget(*class);
                match limit {
                    ALL => budget.granted.store(ENDLESS, Ordering::Relaxed),
                    limit => budget.grant(limit.into(), limit.into()),
                }
            }
        }
    }

    /// The most that any reader of the class wishes for.
    fn limit(&self, class: EventClass) -> u32 {
        let wishes = self.wishes.values();
        let limits = wishes.filter_map(|wish| wish[class as usize]);
        limits.max().unwrap_or(ALL)
    }

    /// Fills the budgets by the time that has passed. Carriers that were busy share what one second allows; what a
    /// carrier does not need now is there for a later burst, at most a second's worth.
    pub(in crate::event) fn refill(&mut self, now: Timestamp, lanes: &[Lane]) {
        let passed = now.0.saturating_sub(self.filled.0);
        for class in EventClass::ALL {
            let limit = self.limit(*class);
            if limit == ALL {
                continue;
            }
            let mut busy = 0;
            for (carrier, lane) in lanes.iter().enumerate() {
                let asked = lane.budget(*class).asked();
                let before = self.asked.insert((carrier, *class as usize), asked);
                busy += u64::from(before.unwrap_or(0) != asked);
            }
            let limit = u64::from(limit);
            let passed = u128::from(passed.min(1_000_000_000));
            let share = u128::from(limit) * passed / (1_000_000_000 * u128::from(busy.max(1)));
            for lane in lanes {
                lane.budget(*class).grant(share as u64, limit);
            }
        }
        self.filled = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn wish(parks: Option<u32>) -> Option<[Option<u32>; EventClass::COUNT]> {
        let mut wish = [None; EventClass::COUNT];
        wish[EventClass::Parks as usize] = parks;
        Some(wish)
    }

    /// How many of a flood a carrier may record.
    fn flood(lane: &Lane) -> usize {
        let budget = lane.budget(EventClass::Parks);
        (0..10_000).filter(|_| budget.take()).count()
    }

    #[test]
    fn busy_carriers_share_what_a_second_allows_and_the_rest_is_counted() {
        let lanes = [Lane::default(), Lane::default(), Lane::default()];
        let mut throttle = Throttle::default();
        throttle.refill(Timestamp(SECOND), &lanes);
        assert_eq!(flood(&lanes[0]), 10_000);
        throttle.wish(1, wish(Some(1_000)), &lanes);
        // A full second's worth to begin with, for each.
        assert_eq!((flood(&lanes[0]), flood(&lanes[1])), (1_000, 1_000));
        throttle.refill(Timestamp(SECOND + SECOND / 10), &lanes);
        let (one, other) = (flood(&lanes[0]), flood(&lanes[1]));
        assert_eq!((one, other), (50, 50));
        // Nobody saves more than a second's worth.
        throttle.refill(Timestamp(100 * SECOND), &lanes);
        throttle.refill(Timestamp(200 * SECOND), &lanes);
        assert_eq!(flood(&lanes[2]), 1_000);
        let left_out = lanes[1].budget(EventClass::Parks).left_out();
        assert_eq!(left_out, 20_000 - 1_050);
        assert_eq!(lanes[1].budget(EventClass::Lifetimes).left_out(), 0);
    }

    #[test]
    fn whoever_wishes_for_most_is_served() {
        let lanes = [Lane::default()];
        let mut throttle = Throttle::default();
        throttle.wish(1, wish(Some(10)), &lanes);
        throttle.wish(2, wish(None), &lanes);
        assert_eq!(flood(&lanes[0]), 10);
        throttle.wish(3, wish(Some(ALL)), &lanes);
        assert_eq!(flood(&lanes[0]), 10_000);
        throttle.wish(3, None, &lanes);
        assert_eq!(flood(&lanes[0]), 10);
        throttle.wish(1, wish(Some(0)), &lanes);
        throttle.refill(Timestamp(SECOND), &lanes);
        assert_eq!(flood(&lanes[0]), 0);
    }
}
