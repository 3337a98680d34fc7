//! Sites of pins, and what undeclared blocking, which is seen from outside, cost by stack. What carriers count themselves
//! is in their histograms.

use std::collections::HashMap;
use std::panic::Location;

use crate::event::Place;
use crate::event::service::source;

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
