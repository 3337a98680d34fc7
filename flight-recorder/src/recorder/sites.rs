//! Every pin since the recording began, by place, at fixed memory: what the store has given up for
//! newer records still counts here.

use std::collections::HashMap;

use hdrhistogram::Histogram;
use vt_runtime::event::{Pinned, Place};

use crate::write::SiteRow;

/// More places than a program to be repaired has; the rest is summed as one.
const MAX_SITES: usize = 256;
/// One microsecond.
const LEAST: u64 = 1_000;
/// One hour.
const MOST: u64 = 3_600_000_000_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    blocked_at: Option<Place>,
    pinned_at: Option<Place>,
    reason: &'static str,
    lock: Option<std::sync::Arc<str>>,
}

#[derive(Debug)]
struct Site {
    durations: Histogram<u32>,
    total: u64,
    longest: u64,
    stranded: u64,
}

/// The sums.
#[derive(Debug, Default)]
pub(crate) struct Sites(HashMap<Option<Key>, Site>);

impl Sites {
    pub(crate) fn add(&mut self, pinned: &Pinned) {
        let key = Some(Key {
            blocked_at: pinned.blocked_at.clone(),
            pinned_at: pinned.pinned_at.clone(),
            reason: pinned.reason.as_str(),
            lock: pinned.lock.clone().or_else(|| pinned.native.clone()),
        });
        let full = self.0.len() >= MAX_SITES && !self.0.contains_key(&key);
        let site = self
            .0
            .entry(if full { None } else { key })
            .or_insert_with(|| Site {
                durations: match Histogram::new_with_bounds(LEAST, MOST, 2) {
                    Ok(durations) => durations,
                    Err(error) => unreachable!("the bounds are constant and right: {error}"),
                },
                total: 0,
                longest: 0,
                stranded: 0,
            });
        let nanos = u64::try_from(pinned.duration.as_nanos()).unwrap_or(u64::MAX);
        site.durations.saturating_record(nanos);
        site.total = site.total.saturating_add(nanos);
        site.longest = site.longest.max(nanos);
        let stranded = u64::try_from(pinned.stranded_time.as_nanos()).unwrap_or(u64::MAX);
        site.stranded = site.stranded.saturating_add(stranded);
    }

    /// The sums as rows, the most harmful first.
    pub(crate) fn rows(&self) -> Vec<SiteRow> {
        let place = |place: &Option<Place>| place.as_ref().map(Place::to_string);
        let row = |(key, site): (&Option<Key>, &Site)| SiteRow {
            blocked_at: key.as_ref().map_or_else(
                || "other places".to_owned(),
                |key| place(&key.blocked_at).unwrap_or_else(|| "unknown".to_owned()),
            ),
            pinned_at: key
                .as_ref()
                .and_then(|key| place(&key.pinned_at))
                .unwrap_or_default(),
            reason: key.as_ref().map_or("", |key| key.reason),
            lock: key
                .as_ref()
                .and_then(|key| key.lock.as_deref())
                .unwrap_or_default()
                .to_owned(),
            count: site.durations.len(),
            total: site.total,
            // A quantile is the upper end of a bucket, which the longest may not reach.
            median: site.durations.value_at_quantile(0.5).min(site.longest),
            p99: site.durations.value_at_quantile(0.99).min(site.longest),
            longest: site.longest,
            stranded: site.stranded,
        };
        let mut rows: Vec<_> = self.0.iter().map(row).collect();
        rows.sort_by(|a, b| {
            let harm = |row: &SiteRow| (row.stranded, row.total);
            harm(b)
                .cmp(&harm(a))
                .then_with(|| a.blocked_at.cmp(&b.blocked_at))
        });
        rows
    }
}
