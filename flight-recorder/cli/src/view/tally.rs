//! Counts and spans of many events under one key.

use std::collections::BTreeMap;

use crate::table::Cell;

/// What is known of one key's spans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    spans: Vec<i64>,
    pub(crate) total: i64,
}

impl Tally {
    pub(crate) fn add(&mut self, span: i64) {
        self.spans.push(span);
        self.total = self.total.saturating_add(span);
    }

    pub(crate) fn count(&self) -> u64 {
        self.spans.len() as u64
    }

    pub(crate) fn max(&self) -> i64 {
        self.spans.iter().copied().max().unwrap_or(0)
    }

    pub(crate) fn mean(&self) -> i64 {
        self.total.checked_div(self.spans.len() as i64).unwrap_or(0)
    }

    /// The span that `share` of all do not exceed.
    pub(crate) fn quantile(&mut self, share: f64) -> i64 {
        if self.spans.is_empty() {
            return 0;
        }
        let rank = (share * self.spans.len() as f64).ceil() as usize;
        let at = rank.clamp(1, self.spans.len()) - 1;
        *self.spans.select_nth_unstable(at).1
    }

    /// Count, longest, total.
    pub(crate) fn cells(&self) -> [Cell; 3] {
        [
            Cell::Count(self.count()),
            Cell::Span(self.max()),
            Cell::Span(self.total),
        ]
    }
}

/// Rows of a map, greatest first by `weight`, ties by key.
pub(crate) fn ranked<K: Clone + Ord, V, W: Ord>(
    map: BTreeMap<K, V>,
    weight: impl Fn(&V) -> W,
) -> Vec<(K, V)> {
    let mut rows: Vec<_> = map.into_iter().collect();
    rows.sort_by_key(|(_, value)| std::cmp::Reverse(weight(value)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_spans_that_were_seen() {
        let mut tally = Tally::default();
        assert_eq!(tally.quantile(0.99), 0);
        (1..=100).rev().for_each(|span| tally.add(span));
        assert_eq!(tally.quantile(0.5), 50);
        assert_eq!(tally.quantile(0.99), 99);
        assert_eq!(tally.quantile(1.0), 100);
        assert_eq!((tally.count(), tally.max(), tally.mean()), (100, 100, 50));
    }
}
