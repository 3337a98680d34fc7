//! What pins cost by site: one small table for each carrier, and one for what was seen from outside.
//!
//! A carrier adds to its table at the end of each pinned wait, however short, so it is a few loads and stores: no lock, no
//! allocation. The table has a fixed size; what finds no room in it is counted together, as a site without places.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::event::Place;
use crate::event::service::source;

/// Sites of a carrier that are told apart; a power of two.
const SITES: usize = 256;

/// Neighbouring entries one site may be found in.
const WAYS: usize = 8;

/// Stacks of undeclared blocking that are told apart.
const STACKS: usize = 1024;

/// A site and what it cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) pinned_at: Option<Place>,
    pub(crate) blocked_at: Option<Place>,
    pub(crate) count: u64,
    pub(crate) nanos: u64,
}

impl Site {
    /// A site of which nothing was counted.
    pub(crate) fn of(
        pinned_at: Option<&'static Location<'static>>,
        blocked_at: Option<&'static Location<'static>>,
    ) -> Self {
        Self {
            pinned_at: pinned_at.map(Into::into),
            blocked_at: blocked_at.map(Into::into),
            ..Self::default()
        }
    }
}

#[derive(Debug, Default)]
struct Entry {
    /// The numbers of the two places; 0 is free, and in the first entry what found no room.
    places: AtomicU64,
    count: AtomicU64,
    nanos: AtomicU64,
}

impl Entry {
    /// Only one thread writes, so a load and a store are enough.
    fn add(&self, nanos: u64) {
        let plus = |counter: &AtomicU64, more| {
            counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        };
        plus(&self.count, 1);
        plus(&self.nanos, nanos);
    }
}

/// The table of one carrier. Only that carrier adds to it.
#[derive(Debug)]
pub(in crate::event) struct Sites {
    entries: Box<[Entry]>,
    rest: Entry,
    total: AtomicU64,
}

impl Sites {
    pub(in crate::event) fn new() -> Self {
        Self {
            entries: (0..SITES).map(|_| Entry::default()).collect(),
            rest: Entry::default(),
            total: AtomicU64::new(0),
        }
    }

    /// A pin of that pair of places took so long.
    pub(in crate::event) fn add(&self, places: u64, nanos: u64) {
        let total = self.total.load(Ordering::Relaxed) + nanos;
        self.total.store(total, Ordering::Relaxed);
        // Fibonacci hashing: neighbouring numbers spread.
        let home = (places.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
        for way in 0..WAYS {
            let entry = &self.entries[(home + way) % SITES];
            let known = entry.places.load(Ordering::Relaxed);
            if known == 0 {
                entry.places.store(places, Ordering::Relaxed);
            }
            if known == 0 || known == places {
                return entry.add(nanos);
            }
        }
        self.rest.add(nanos);
    }

    /// Time of all pins so far.
    pub(in crate::event) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// The pairs of places so far, each with its count and time; 0 for what found no room.
    pub(in crate::event) fn read(&self) -> Vec<(u64, u64, u64)> {
        let entries = self.entries.iter().chain([&self.rest]);
        let read = entries.map(|entry| {
            let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            (load(&entry.places), load(&entry.count), load(&entry.nanos))
        });
        read.filter(|&(_, count, _)| count > 0).collect()
    }
}

/// Undeclared blocking, by carrier and by stack. The watchdog adds to it.
#[derive(Debug, Default)]
pub(in crate::event) struct Undeclared {
    by_carrier: HashMap<usize, u64>,
    by_stack: HashMap<Vec<u64>, (u64, u64)>,
}

impl Undeclared {
    pub(in crate::event) fn add(&mut self, carrier: usize, stack: &[u64], nanos: u64) {
        *self.by_carrier.entry(carrier).or_default() += nanos;
        let stack = if self.by_stack.len() < STACKS || self.by_stack.contains_key(stack) {
            stack
        } else {
            &[]
        };
        let (count, total) = self.by_stack.entry(stack.to_vec()).or_default();
        *count += 1;
        *total += nanos;
    }

    pub(in crate::event) fn total(&self, carrier: usize) -> u64 {
        self.by_carrier.get(&carrier).copied().unwrap_or(0)
    }

    /// The stacks so far, with their counts and times.
    pub(in crate::event) fn read(&self) -> Vec<(Vec<u64>, (u64, u64))> {
        let stacks = self.by_stack.iter();
        stacks.map(|(stack, &cost)| (stack.clone(), cost)).collect()
    }
}

/// Sites of stacks: those that lead to one line of the application are one site.
pub(in crate::event) fn of_stacks(stacks: Vec<(Vec<u64>, (u64, u64))>) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    for (stack, (count, nanos)) in stacks {
        let blocked_at = source::of_application(&stack);
        match sites.iter_mut().find(|site| site.blocked_at == blocked_at) {
            Some(site) => {
                site.count += count;
                site.nanos += nanos;
            }
            None => sites.push(Site {
                pinned_at: None,
                blocked_at,
                count,
                nanos,
            }),
        }
    }
    sites
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_the_table_is_full() {
        let sites = Sites::new();
        for places in 1..=2 * SITES as u64 {
            sites.add(places << 32 | 7, 3);
            sites.add(places << 32 | 7, 4);
        }
        let read = sites.read();
        let sum = |pick: fn(&(u64, u64, u64)) -> u64| read.iter().map(pick).sum::<u64>();
        assert_eq!(sum(|&(_, count, _)| count), 4 * SITES as u64);
        assert_eq!(sum(|&(_, _, nanos)| nanos), 14 * SITES as u64);
        assert_eq!(sites.total(), 14 * SITES as u64);
        assert!(read.len() > SITES / 2, "{}", read.len());
    }

    #[test]
    fn stacks_beyond_the_limit_are_counted_together() {
        let mut undeclared = Undeclared::default();
        for address in 0..2 * STACKS as u64 {
            undeclared.add(1, &[address], 5);
        }
        assert_eq!(undeclared.total(1), 10 * STACKS as u64);
        assert_eq!(undeclared.total(0), 0);
        let read = undeclared.read();
        assert_eq!(read.len(), STACKS + 1);
        assert_eq!(
            read.iter().map(|(_, (count, _))| count).sum::<u64>(),
            2 * STACKS as u64
        );
    }
}
