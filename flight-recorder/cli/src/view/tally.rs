//! Counts and spans of many events under one key, at fixed memory however many there are.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::table::Cell;

/// Spans that are kept as they are; more are kept to three digits.
const EXACT: usize = 1_024;

/// What is known of one key's spans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    spans: Vec<i64>,
    many: Option<Histogram<u64>>,
    count: u64,
    max: i64,
    pub(crate) total: i64,
}

impl Tally {
    pub(crate) fn add(&mut self, span: i64) {
        self.count += 1;
        self.max = self.max.max(span);
        self.total = self.total.saturating_add(span);
        if self.many.is_none() && self.spans.len() < EXACT {
            self.spans.push(span);
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        let many = self.many.get_or_insert_with(|| {
            let day = 86_400_000_000_000;
            match Histogram::new_with_bounds(1_000, day, 3) {
                Ok(many) => many,
                Err(error) => unreachable!("the bounds are constant and right: {error}"),
            }
        });
        for span in spans.into_iter().chain([span]) {
            many.saturating_record(span.max(0).unsigned_abs());
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn max(&self) -> i64 {
        self.max
    }

    pub(crate) fn mean(&self) -> i64 {
        self.total
            .checked_div(i64::try_from(self.count).unwrap_or(i64::MAX))
            .unwrap_or(0)
    }

    /// The span that `share` of all do not exceed.
    pub(crate) fn quantile(&mut self, share: f64) -> i64 {
        if let Some(many) = &self.many {
            let value = many.value_at_quantile(share);
            return i64::try_from(value).unwrap_or(i64::MAX).min(self.max);
        }
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
