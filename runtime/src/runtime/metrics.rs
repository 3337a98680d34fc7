//! Counters and gauges of one runtime.

use std::time::Duration;

use parking_lot::Mutex;

use crate::event::{Delivery, PinReason, Place};
use crate::primitive::{AtomicU64, Ordering};

const REASONS: usize = PinReason::ALL.len();
/// Buckets of a histogram: up to half an hour, and one for what is longer.
const BUCKETS: usize = 32;

/// What the runtime counts while it runs.
#[derive(Default)]
pub(crate) struct Counters {
    spawned: AtomicU64,
    refused: AtomicU64,
    /// Undeclared blocking, which is counted from outside.
    undeclared: Mutex<PinCounters>,
}

/// Pinned waits by reason: those of one carrier, or those that nobody on a carrier counts.
#[derive(Debug, Default)]
pub(crate) struct PinCounters([PinCounter; REASONS]);

#[derive(Debug, Default)]
struct PinCounter {
    count: AtomicU64,
    nanos: AtomicU64,
    longest: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
}

impl Counters {
    pub(crate) fn count_spawn(&self) {
        self.spawned.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_refusal(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Undeclared blocking ended. From the watchdog.
    pub(crate) fn count_undeclared(&self, nanos: u64) {
        self.undeclared.lock().count(PinReason::Native, nanos);
    }

    pub(crate) fn spawned(&self) -> u64 {
        self.spawned.load(Ordering::Relaxed)
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// By reason, with what carriers counted themselves.
    pub(crate) fn pinned<'a>(
        &'a self,
        carriers: impl Iterator<Item = &'a PinCounters>,
    ) -> Vec<PinnedTime> {
        let reasons = PinReason::ALL.iter();
        let mut sums: Vec<_> = reasons.map(|reason| PinnedTime::none(*reason)).collect();
        let add = |sums: &mut [PinnedTime], counters: &PinCounters| {
            for (sum, counter) in sums.iter_mut().zip(&counters.0) {
                counter.add_to(sum);
            }
        };
        carriers.for_each(|counters| add(&mut sums, counters));
        add(&mut sums, &self.undeclared.lock());
        sums
    }
}

impl PinCounters {
    /// A pinned wait ended, whether or not it reached the threshold. Only one thread counts here, so a load and a store
    /// are enough, a quarter of what an atomic addition takes.
    pub(crate) fn count(&self, reason: PinReason, nanos: u64) {
        let counter = &self.0[reason as usize];
        let add = |counter: &AtomicU64, more: u64| {
            let sum = counter.load(Ordering::Relaxed).wrapping_add(more);
            counter.store(sum, Ordering::Relaxed);
        };
        add(&counter.count, 1);
        add(&counter.nanos, nanos);
        add(&counter.buckets[bucket_of(nanos)], 1);
        if nanos > counter.longest.load(Ordering::Relaxed) {
            counter.longest.store(nanos, Ordering::Relaxed);
        }
    }
}

impl PinCounter {
    fn add_to(&self, sum: &mut PinnedTime) {
        sum.count += self.count.load(Ordering::Relaxed);
        let nanos = self.nanos.load(Ordering::Relaxed);
        sum.total = sum.total.saturating_add(Duration::from_nanos(nanos));
        let longest = Duration::from_nanos(self.longest.load(Ordering::Relaxed));
        sum.longest = sum.longest.max(longest);
        for (sum, count) in sum.histogram.0.iter_mut().zip(&self.buckets) {
            *sum += count.load(Ordering::Relaxed);
        }
    }
}

/// A reading of a runtime's counters and gauges.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Metrics {
    /// Carriers alive.
    pub carriers: usize,
    /// Virtual threads queued or started and not ended.
    pub live: usize,
    /// Most virtual threads that may be live at a time.
    pub max_threads: usize,
    /// Stacks that are kept for ever, because their threads could not be ended: they count as live.
    pub leaked_stacks: usize,
    /// How often carriers mounted a virtual thread since the start.
    pub mounts: u64,
    /// Virtual threads spawned since the start.
    pub spawned: u64,
    /// Spawns refused since the start.
    pub refused: u64,
    /// Pinned waits by reason, those below the threshold included.
    pub pinned: Vec<PinnedTime>,
    /// What pins took of each carrier's time, by the carrier's number.
    pub carrier_pins: Vec<CarrierPins>,
    /// What pins took by the sites they were taken at, the costliest first.
    pub pinned_sites: Vec<PinnedSite>,
    /// How events have fared with subscribers.
    pub events: Delivery,
    /// The pool that [`blocking`](crate::blocking) uses.
    pub offload: OffloadMetrics,
}

/// The offload pool of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OffloadMetrics {
    /// Threads alive.
    pub threads: usize,
    /// Most threads there may be.
    pub max_threads: usize,
    /// Threads without work.
    pub idle: usize,
    /// Jobs that wait for a thread.
    pub queued: usize,
    /// Jobs done since the start.
    pub finished: u64,
    /// Time that jobs waited for a thread, summed.
    pub queue_time: Duration,
    /// The longest such wait.
    pub longest_queue_time: Duration,
}

/// What pins took of one carrier's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CarrierPins {
    /// Its number.
    pub carrier: usize,
    /// Time in pinned waits, in declared foreign calls that blocked, and in undeclared blocking; the pinned wait under
    /// way included.
    pub pinned: Duration,
    /// Time since it started.
    pub alive: Duration,
}

impl CarrierPins {
    /// The part of its time that pins took, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.pinned.as_secs_f64() / self.alive.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// The pins of one site, which have ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PinnedSite {
    /// Where the outermost pins were taken; `None` for undeclared blocking, and for sites too many to be told apart.
    pub pinned_at: Option<Place>,
    /// The application's line that waited, where it can be told.
    pub blocked_at: Option<Place>,
    /// How many.
    pub count: u64,
    /// Their durations, summed.
    pub total: Duration,
    /// The part of all carriers' time that they took, from 0 to 1.
    pub share: f64,
}

/// The pinned waits of one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PinnedTime {
    /// What pinned.
    pub reason: PinReason,
    /// How many waits.
    pub count: u64,
    /// Their durations, summed.
    pub total: Duration,
    /// The longest of them.
    pub longest: Duration,
    /// How many took how long.
    pub histogram: PinnedHistogram,
}

impl PinnedTime {
    fn none(reason: PinReason) -> Self {
        Self {
            reason,
            count: 0,
            total: Duration::ZERO,
            longest: Duration::ZERO,
            histogram: PinnedHistogram([0; BUCKETS]),
        }
    }
}

/// Durations of pinned waits, counted in buckets whose bounds double, from one microsecond up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedHistogram([u64; BUCKETS]);

impl PinnedHistogram {
    /// Each bucket's upper bound, which does not belong to it, and its count. The last one has no bound.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        self.0
            .iter()
            .enumerate()
            .map(|(index, &count)| (bound_of(index), count))
    }

    /// A bound that at least this share of the waits, from 0 to 1, lie below; `None` if there were none.
    ///
    /// ```
    /// let metrics = vt_runtime::Runtime::global().metrics();
    /// for pinned in metrics.pinned {
    ///     println!("{:?}: 99 % below {:?}", pinned.reason, pinned.histogram.quantile(0.99));
    /// }
    /// ```
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let total: u64 = self.0.iter().sum();
        let wanted = (total as f64 * share.clamp(0.0, 1.0)).ceil().max(1.0);
        let mut seen = 0;
        self.buckets().find_map(|(bound, count)| {
            seen += count;
            (seen as f64 >= wanted).then_some(bound)
        })
    }
}

/// Bucket 0 is below one microsecond, bucket `n` below 2^n; the last one holds the rest.
fn bucket_of(nanos: u64) -> usize {
    let micros = nanos / 1000;
    let bits = (u64::BITS - micros.leading_zeros()) as usize;
    bits.min(BUCKETS - 1)
}

fn bound_of(bucket: usize) -> Duration {
    if bucket == BUCKETS - 1 {
        Duration::MAX
    } else {
        Duration::from_micros(1 << bucket)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn waits_are_counted_by_length() {
        let (counters, carrier) = (Counters::default(), PinCounters::default());
        for nanos in [0, 999, 1_000, 20_000_000, 20_000_000, u64::MAX] {
            carrier.count(PinReason::Monitor, nanos);
        }
        let pinned = counters.pinned([&carrier].into_iter());
        let monitor = pinned.iter().find(|time| time.reason == PinReason::Monitor);
        let monitor = monitor.expect("every reason is there");
        let filled: Vec<_> = monitor
            .histogram
            .buckets()
            .filter(|&(_, count)| count > 0)
            .collect();
        let micros = Duration::from_micros;
        assert_eq!(
            filled,
            [
                (micros(1), 2),
                (micros(2), 1),
                (micros(1 << 15), 2),
                (Duration::MAX, 1)
            ]
        );
        assert_eq!(monitor.histogram.quantile(0.5), Some(micros(2)));
        assert_eq!(monitor.histogram.quantile(0.8), Some(micros(1 << 15)));
        let critical = pinned
            .iter()
            .find(|time| time.reason == PinReason::Critical);
        let critical = critical.expect("every reason is there");
        assert_eq!(critical.histogram.quantile(0.5), None);
    }
}
