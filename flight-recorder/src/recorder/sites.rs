//! Every pin since the runtime started, by place and by what was held, at fixed memory: those below the threshold, and
//! those whose records the store has given up for newer ones, count here too.
//!
//! The runtime keeps histograms of declared pins itself; undeclared blocking, which is seen from outside, is added
//! here as its events come.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use hdrhistogram::Histogram;
use vt_runtime::event::{PinReason, PinSite, PinSource, Pinned, Place};

use crate::write::{HolderRow, SiteRow};

/// More places than a program to be repaired has; the rest is summed as one.
const MAX_SITES: usize = 256;
/// One microsecond.
const LEAST: u64 = 1_000;
/// One hour.
const MOST: u64 = 3_600_000_000_000;

/// What makes pins the same; both places are empty for sites too many to be told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    blocked_at: Option<Place>,
    pinned_at: Option<Place>,
    reason: &'static str,
    holder: String,
}

/// What pins came to.
#[derive(Clone, Debug)]
struct Sum {
    durations: Histogram<u64>,
    total: u64,
    longest: u64,
    stranded: u64,
}

impl Default for Sum {
    fn default() -> Self {
        let durations = match Histogram::new_with_bounds(LEAST, MOST, 2) {
            Ok(durations) => durations,
            Err(error) => unreachable!("the bounds are constant and right: {error}"),
        };
        Self {
            durations,
            total: 0,
            longest: 0,
            stranded: 0,
        }
    }
}

impl Sum {
    fn add(&mut self, count: u64, total: Duration, longest: Duration, stranded: Duration) {
        let longest = nanos(longest);
        self.durations.saturating_record_n(longest, count);
        self.total = self.total.saturating_add(nanos(total));
        self.longest = self.longest.max(longest);
        self.stranded = self.stranded.saturating_add(nanos(stranded));
    }

    fn add_site(&mut self, site: &PinSite) {
        for (bound, count) in &site.histogram {
            self.durations
                .saturating_record_n(nanos((*bound).min(site.longest)), *count);
        }
        self.total = self.total.saturating_add(nanos(site.total));
        self.longest = self.longest.max(nanos(site.longest));
        self.stranded = self.stranded.saturating_add(nanos(site.stranded_time));
    }

    fn merge(&mut self, other: &Self) {
        // Both have the same bounds.
        let _ = self.durations.add(&other.durations);
        self.total = self.total.saturating_add(other.total);
        self.longest = self.longest.max(other.longest);
        self.stranded = self.stranded.saturating_add(other.stranded);
    }

    /// A quantile is the upper end of a bucket, which the longest may not reach.
    fn quantile(&self, share: f64) -> u64 {
        self.durations.value_at_quantile(share).min(self.longest)
    }

    fn harm(&self) -> (u64, u64) {
        (self.stranded, self.total)
    }
}

/// The sums of undeclared blocking.
#[derive(Debug, Default)]
pub(crate) struct Sites(HashMap<Key, Sum>);

impl Sites {
    /// Takes a pin, if the runtime does not count it itself.
    pub(crate) fn add(&mut self, pinned: &Pinned) {
        if pinned.source != PinSource::Sampled {
            return;
        }
        let key = Key {
            blocked_at: pinned.blocked_at.clone(),
            pinned_at: pinned.pinned_at.clone(),
            reason: pinned.reason.as_str(),
            holder: pinned.native.as_deref().unwrap_or_default().to_owned(),
        };
        let full = self.0.len() >= MAX_SITES && !self.0.contains_key(&key);
        let key = if full { Key::default() } else { key };
        let sum = self.0.entry(key).or_default();
        sum.add(1, pinned.duration, pinned.duration, pinned.stranded_time);
    }

    /// All pins by reason, for metrics: how many took no longer than each bound, their sum in nanoseconds, how many.
    pub(crate) fn by_reason(
        &self,
        declared: &[PinSite],
        bounds: &[Duration],
    ) -> BTreeMap<&'static str, (Vec<u64>, u64, u64)> {
        let mut sums: BTreeMap<&'static str, Sum> = BTreeMap::new();
        for reason in PinReason::ALL {
            sums.insert(reason.as_str(), Sum::default());
        }
        for (key, sum) in &self.0 {
            sums.entry(key.reason).or_default().merge(sum);
        }
        for site in declared {
            sums.entry(site.reason.as_str()).or_default().add_site(site);
        }
        let read = |(reason, sum): (&'static str, Sum)| {
            let below = |bound: &Duration| sum.durations.count_between(0, nanos(*bound));
            let counts = bounds.iter().map(below).collect();
            (reason, (counts, sum.total, sum.durations.len()))
        };
        sums.into_iter().map(read).collect()
    }

    /// All sums as rows, those of the runtime among them, the most harmful first: by place, and by what was held.
    pub(crate) fn rows(&self, declared: &[PinSite]) -> (Vec<SiteRow>, Vec<HolderRow>) {
        let mut sites = self.0.clone();
        for site in declared {
            let key = Key {
                blocked_at: site.blocked_at.clone(),
                pinned_at: site.pinned_at.clone(),
                reason: site.reason.as_str(),
                holder: site.holder.clone().unwrap_or_default(),
            };
            sites.entry(key).or_default().add_site(site);
        }
        let mut holders: HashMap<(&'static str, String), Sum> = HashMap::new();
        for (key, sum) in &sites {
            let holder = holders.entry((key.reason, key.holder.clone())).or_default();
            holder.merge(sum);
        }
        holders.retain(|(_, name), _| !name.is_empty());
        let holders = ranked(holders).into_iter();
        let holders = holders.map(|((reason, name), sum)| holder_row(reason, name, &sum));
        let sites = ranked(sites)
            .into_iter()
            .map(|(key, sum)| site_row(key, &sum));
        (sites.collect(), holders.collect())
    }
}

fn ranked<K>(sums: HashMap<K, Sum>) -> Vec<(K, Sum)> {
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.harm()));
    rows
}

fn site_row(key: Key, sum: &Sum) -> SiteRow {
    let place = |place: &Option<Place>| place.as_ref().map(Place::to_string);
    let blocked_at = match (&key.blocked_at, &key.pinned_at) {
        (None, None) if key.holder.is_empty() => "other places".to_owned(),
        (blocked_at, _) => place(blocked_at).unwrap_or_else(|| "unknown".to_owned()),
    };
    SiteRow {
        blocked_at,
        pinned_at: place(&key.pinned_at).unwrap_or_default(),
        pins: holder_row(key.reason, key.holder, sum),
    }
}

fn holder_row(reason: &'static str, lock: String, sum: &Sum) -> HolderRow {
    HolderRow {
        reason,
        lock,
        count: sum.durations.len(),
        total: sum.total,
        median: sum.quantile(0.5),
        p99: sum.quantile(0.99),
        longest: sum.longest,
        stranded: sum.stranded,
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
