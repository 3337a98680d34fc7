//! How long pins took, by site and by what was held: one table of histograms for each carrier, at fixed memory.
//!
//! A carrier adds at the end of each pinned wait, however short, so it is a dozen loads and stores: no lock, no
//! allocation. What finds no room in the table is counted together, by its reason.
//!
//! A histogram's buckets are as fine as a quarter of their size, from a microsecond to an hour: each power of two is
//! cut into four.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::event::codec::intern::{Cache, Known};
use crate::event::{PinReason, Subject};

/// Sites of a carrier that are told apart; a power of two.
const SITES: usize = 128;
/// Neighbouring entries one site may be found in.
const WAYS: usize = 8;
/// The first power of two that has buckets of its own: a microsecond, about.
const FIRST: u32 = 10;
/// Buckets of each power of two.
const PARTS: usize = 4;
/// One bucket for what is shorter, then those of 32 powers; the last takes what is longer.
const BUCKETS: usize = 1 + 32 * PARTS;

/// What tells two entries apart: the numbers of the two places, and what was held, packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::event) struct Key {
    pub(in crate::event) places: u64,
    holder: u64,
}

/// Bits of `Key::holder`: a name's number with this one set, or an address below the number of its kind.
const NAMED: u64 = 1 << 63;
const REASON_SHIFT: u32 = 59;
const KIND_SHIFT: u32 = 48;
const ADDRESS: u64 = (1 << KIND_SHIFT) - 1;
const MAX_KIND: u64 = (1 << (REASON_SHIFT - KIND_SHIFT)) - 1;

impl Key {
    /// On a carrier, whose memory of statics `cache` is.
    pub(in crate::event) fn new(
        cache: &Cache,
        places: u64,
        reason: PinReason,
        holder: Option<Subject>,
    ) -> Self {
        let reason = (reason as u64) << REASON_SHIFT;
        let holder = holder.map_or(0, |holder| match holder.name {
            Some(name) => NAMED | u64::from(cache.text(Some(name))),
            None => {
                let kind = u64::from(cache.text(Some(holder.kind)));
                let kind = if kind > MAX_KIND { 0 } else { kind };
                kind << KIND_SHIFT | holder.id & ADDRESS
            }
        });
        Self {
            places,
            holder: reason | holder,
        }
    }

    /// What found no room, by its reason.
    fn rest(self) -> Self {
        Self {
            places: 0,
            holder: self.holder & !NAMED >> REASON_SHIFT << REASON_SHIFT,
        }
    }

    pub(in crate::event) fn reason(self) -> PinReason {
        PinReason::from_code((self.holder & !NAMED) >> REASON_SHIFT).unwrap_or(PinReason::Monitor)
    }

    /// What was held, as texts name it.
    pub(in crate::event) fn holder(self, known: &mut Known) -> Option<String> {
        let low = self.holder & ((1 << REASON_SHIFT) - 1);
        if self.holder & NAMED != 0 {
            return known.text(low as u32).map(str::to_owned);
        }
        let kind = known.text((low >> KIND_SHIFT) as u32)?;
        Some(format!("{kind}@{:#x}", low & ADDRESS))
    }
}

/// What the pins of one key came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::event) struct Sum {
    pub(in crate::event) count: u64,
    pub(in crate::event) nanos: u64,
    pub(in crate::event) longest: u64,
    pub(in crate::event) stranded: u64,
    /// By bucket.
    pub(in crate::event) buckets: Vec<u64>,
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.nanos = self.nanos.saturating_add(other.nanos);
        self.longest = self.longest.max(other.longest);
        self.stranded = self.stranded.saturating_add(other.stranded);
        self.buckets.resize(BUCKETS, 0);
        for (own, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += more;
        }
    }

    /// Each bucket that holds any, by its upper bound.
    pub(in crate::event) fn histogram(&self) -> Vec<(Duration, u64)> {
        let counts = self.buckets.iter().enumerate();
        let filled = counts.filter(|(_, count)| **count > 0);
        filled
            .map(|(bucket, count)| (bound_of(bucket), *count))
            .collect()
    }
}

#[derive(Debug)]
struct Entry {
    /// 0 is free: a pin always has a place.
    places: AtomicU64,
    holder: AtomicU64,
    count: AtomicU64,
    nanos: AtomicU64,
    longest: AtomicU64,
    stranded: AtomicU64,
    buckets: [AtomicU32; BUCKETS],
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            places: AtomicU64::new(0),
            holder: AtomicU64::new(0),
            count: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
            longest: AtomicU64::new(0),
            stranded: AtomicU64::new(0),
            buckets: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }
}

impl Entry {
    /// Only one thread writes, so a load and a store are enough.
    fn add(&self, nanos: u64, stranded: u64) {
        let change = |counter: &AtomicU64, with: fn(u64, u64) -> u64, more| {
            counter.store(
                with(counter.load(Ordering::Relaxed), more),
                Ordering::Relaxed,
            );
        };
        change(&self.count, u64::wrapping_add, 1);
        change(&self.nanos, u64::wrapping_add, nanos);
        change(&self.longest, u64::max, nanos);
        change(&self.stranded, u64::wrapping_add, stranded);
        let bucket = &self.buckets[bucket_of(nanos)];
        bucket.store(
            bucket.load(Ordering::Relaxed).saturating_add(1),
            Ordering::Relaxed,
        );
    }

    fn read(&self) -> Sum {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let buckets = self.buckets.iter();
        Sum {
            count: load(&self.count),
            nanos: load(&self.nanos),
            longest: load(&self.longest),
            stranded: load(&self.stranded),
            buckets: buckets
                .map(|count| count.load(Ordering::Relaxed).into())
                .collect(),
        }
    }
}

/// The table of one carrier. Only that carrier adds to it.
#[derive(Debug)]
pub(in crate::event) struct Histograms {
    entries: Box<[Entry]>,
    /// By reason.
    rest: Box<[Entry]>,
    /// Time of all pins.
    total: AtomicU64,
}

impl Histograms {
    pub(in crate::event) fn new() -> Self {
        let make = |count| (0..count).map(|_| Entry::default()).collect();
        Self {
            entries: make(SITES),
            rest: make(PinReason::ALL.len()),
            total: AtomicU64::new(0),
        }
    }

    /// A pin took so long, and others waited so long for it.
    pub(in crate::event) fn add(&self, key: Key, nanos: u64, stranded: u64) {
        let total = self.total.load(Ordering::Relaxed).wrapping_add(nanos);
        self.total.store(total, Ordering::Relaxed);
        // Fibonacci hashing: neighbouring numbers spread.
        let mixed = (key.places ^ key.holder.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let home = (mixed >> 57) as usize;
        for way in 0..WAYS {
            let entry = &self.entries[(home + way) % SITES];
            let known = entry.places.load(Ordering::Relaxed);
            if known == 0 {
                entry.holder.store(key.holder, Ordering::Relaxed);
                // A reader that sees the places sees what they belong to.
                entry.places.store(key.places, Ordering::Release);
            } else if known != key.places || entry.holder.load(Ordering::Relaxed) != key.holder {
                continue;
            }
            return entry.add(nanos, stranded);
        }
        self.rest[key.reason() as usize].add(nanos, stranded);
    }

    /// Time of all pins so far.
    pub(in crate::event) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// The pairs of places so far, whatever was held there, each with its count and time; 0 for what found no room.
    pub(in crate::event) fn places(&self) -> HashMap<u64, (u64, u64)> {
        let mut places = HashMap::<u64, (u64, u64)>::new();
        for entry in self.entries.iter().chain(&self.rest) {
            let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            if load(&entry.count) > 0 {
                let sum = places.entry(load(&entry.places)).or_default();
                *sum = (sum.0 + load(&entry.count), sum.1 + load(&entry.nanos));
            }
        }
        places
    }

    /// Adds what it holds to `sums`.
    pub(in crate::event) fn add_to(&self, sums: &mut HashMap<Key, Sum>) {
        for entry in &self.entries {
            let places = entry.places.load(Ordering::Acquire);
            if places != 0 {
                let holder = entry.holder.load(Ordering::Relaxed);
                sums.entry(Key { places, holder })
                    .or_default()
                    .add(&entry.read());
            }
        }
        for (reason, entry) in self.rest.iter().enumerate() {
            let sum = entry.read();
            if sum.count > 0 {
                let key = Key {
                    places: 0,
                    holder: (reason as u64) << REASON_SHIFT,
                };
                sums.entry(key.rest()).or_default().add(&sum);
            }
        }
    }
}

fn bucket_of(nanos: u64) -> usize {
    let power = (nanos | 1).ilog2();
    if power < FIRST {
        return 0;
    }
    let part = (nanos >> (power - 2)) as usize & (PARTS - 1);
    (1 + (power - FIRST) as usize * PARTS + part).min(BUCKETS - 1)
}

/// Where a bucket ends; the last one ends nowhere.
fn bound_of(bucket: usize) -> Duration {
    if bucket == BUCKETS - 1 {
        return Duration::MAX;
    }
    // The end of one is the begin of the next.
    let power = FIRST + (bucket / PARTS) as u32;
    let part = (bucket % PARTS) as u64;
    Duration::from_nanos((PARTS as u64 + part) << (power - 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(places: u64, name: &'static str) -> Key {
        let subject = Subject {
            kind: "Monitor",
            name: Some(name),
            id: 1,
        };
        Key::new(&Cache::new(), places, PinReason::Critical, Some(subject))
    }

    #[test]
    fn buckets_follow_one_another_and_hold_what_they_say() {
        assert_eq!(
            (bucket_of(0), bucket_of(1_023), bucket_of(1_024)),
            (0, 0, 1)
        );
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
        for bucket in 0..BUCKETS - 2 {
            let end = bound_of(bucket).as_nanos() as u64;
            assert_eq!((bucket_of(end - 1), bucket_of(end)), (bucket, bucket + 1));
        }
        let width = |bucket| (bound_of(bucket) - bound_of(bucket - 1)).as_nanos() * 4;
        assert!((2..BUCKETS - 1).all(|bucket| width(bucket) <= bound_of(bucket - 1).as_nanos()));
    }

    #[test]
    fn sites_and_what_was_held_are_told_apart_over_all_carriers() {
        let (one, other) = (Histograms::new(), Histograms::new());
        for nanos in [500, 2_000_000, 30_000_000] {
            one.add(key(7, "orders"), nanos, 10);
            other.add(key(7, "orders"), nanos, 5);
            other.add(key(7, "stock"), nanos, 0);
        }
        let mut sums = HashMap::new();
        one.add_to(&mut sums);
        other.add_to(&mut sums);
        assert_eq!(sums.len(), 2);
        let orders = &sums[&key(7, "orders")];
        assert_eq!(
            (orders.count, orders.longest, orders.stranded),
            (6, 30_000_000, 45)
        );
        assert_eq!(orders.nanos, 2 * 32_000_500);
        let counts: Vec<_> = orders.histogram().iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [2, 2, 2]);
        let mut known = Known::default();
        assert_eq!(key(7, "stock").holder(&mut known).as_deref(), Some("stock"));
        assert_eq!(key(7, "stock").reason(), PinReason::Critical);
    }

    #[test]
    fn locks_without_a_name_are_told_apart_by_their_address() {
        let cache = Cache::new();
        let unnamed = |id| Subject {
            kind: "Monitor",
            name: None,
            id,
        };
        let key = |id| Key::new(&cache, 7, PinReason::Monitor, Some(unnamed(id)));
        assert_ne!(key(0x7f00_1000), key(0x7f00_2000));
        let text = key(0x7f00_1000).holder(&mut Known::default());
        assert_eq!(text.as_deref(), Some("Monitor@0x7f001000"));
        assert_eq!(
            Key::new(&cache, 7, PinReason::Monitor, None).holder(&mut Known::default()),
            None
        );
    }

    #[test]
    fn nothing_is_lost_when_the_table_is_full() {
        let histograms = Histograms::new();
        for places in 1..=4 * SITES as u64 {
            histograms.add(key(places << 32 | 7, "orders"), 3, 1);
        }
        let mut sums = HashMap::new();
        histograms.add_to(&mut sums);
        let count: u64 = sums.values().map(|sum| sum.count).sum();
        assert_eq!(count, 4 * SITES as u64);
        let places = histograms.places();
        assert_eq!(places.values().map(|(count, _)| count).sum::<u64>(), count);
        assert_eq!(
            places.values().map(|(_, nanos)| nanos).sum::<u64>(),
            3 * count
        );
        assert_eq!(histograms.total(), 3 * count);
        let rest = sums
            .iter()
            .find(|(key, _)| key.places == 0)
            .expect("some found no room");
        assert_eq!(rest.0.reason(), PinReason::Critical);
        assert_eq!(rest.0.holder(&mut Known::default()), None);
    }
}
