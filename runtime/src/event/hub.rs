//! Where the runtime reports what happens: one hub per runtime.
//!
//! From a carrier: a binary record into the carrier's own ring, no lock, no allocation, no system call
//! (but for the first sight of a static, the first record of a class, and waking `vt-events` once per
//! idle period). From elsewhere: [`Hub::report`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tracing::Dispatch;

use super::codec::intern::Known;
use super::codec::text::{self, ThreadNames};
use super::codec::{MAX_STACK, write};
use super::raw::{Cost, Lifetime, RawNative, RawPinned, Subject};
use super::reader::{Follower, Reader};
use super::service::{Delivery, Service, exit, interest};
use super::store::Store;
use super::store::histograms::{Histograms, Key};
use super::store::lane::Lane;
use super::store::ring::Ring;
use super::store::sites::{self, Site};
use super::store::throttle::Budget;
use super::{Event, EventClass, Operation, PinSite, Pinned, Timestamp, clock};

/// Pins each carrier's ring keeps unless the user says otherwise.
pub(crate) const DEFAULT_CAPACITY: usize = 512;

/// Frames kept of a stack unless the user says otherwise: as the JDK's.
pub(crate) const DEFAULT_STACK_DEPTH: usize = 64;

/// The hub.
pub(crate) struct Hub {
    store: Arc<Store>,
    service: Arc<Service>,
    threshold: AtomicU64,
    stack_depth: AtomicUsize,
}

impl Hub {
    /// A hub for up to `carrier_slots` carriers whose rings keep about `capacity` pins each. Events go to
    /// `dispatch`, or without one to the default dispatcher at the moment of emission.
    pub(crate) fn new(
        carrier_slots: usize,
        capacity: usize,
        threshold: Duration,
        dispatch: Option<Dispatch>,
    ) -> Arc<Self> {
        let store = Arc::new(Store::new(carrier_slots, capacity));
        let service = Service::start(Follower::from_start(Arc::clone(&store)), dispatch);
        Arc::new(Self {
            store,
            service,
            threshold: AtomicU64::new(clock::nanos(threshold)),
            stack_depth: AtomicUsize::new(DEFAULT_STACK_DEPTH),
        })
    }

    /// The duration from which a wait is reported: the caller of [`Hub::pinned`] and
    /// [`Hub::native_call`] compares, so that below it nothing is gathered.
    #[inline]
    pub(crate) fn threshold_ns(&self) -> u64 {
        self.threshold.load(Ordering::Relaxed)
    }

    /// Changes the threshold, from the next comparison on.
    pub(crate) fn set_threshold(&self, threshold: Duration) {
        self.threshold
            .store(clock::nanos(threshold), Ordering::Relaxed);
    }

    /// Frames kept of a stack.
    pub(crate) fn stack_depth(&self) -> usize {
        self.stack_depth.load(Ordering::Relaxed)
    }

    /// Changes it, to at most what a record can hold.
    pub(crate) fn set_stack_depth(&self, frames: usize) {
        self.stack_depth
            .store(frames.min(MAX_STACK), Ordering::Relaxed);
    }

    /// A pin ended, whatever the threshold. On the carrier's own thread.
    pub(crate) fn spent(&self, carrier: usize, cost: &Cost) {
        if let Some(lane) = self.lane(carrier) {
            let cache = lane.cache();
            let places = write::pair(cache.place(cost.pinned_at), cache.place(cost.blocked_at));
            let key = Key::new(cache, places, cost.reason, cost.holder);
            lane.histograms().add(key, cost.nanos, cost.stranded_ns);
        }
    }

    /// How long pins took, by site and by what was held, over all carriers: every declared one, however short.
    pub(crate) fn pin_sites(&self) -> Vec<PinSite> {
        let mut sums = std::collections::HashMap::new();
        for histograms in self.store.lanes.iter().filter_map(Lane::measured) {
            histograms.add_to(&mut sums);
        }
        let mut known = Known::default();
        let sums = sums.into_iter();
        let report = sums.map(|(key, sum)| {
            let site = known.site(key.places);
            PinSite {
                pinned_at: site.pinned_at,
                blocked_at: site.blocked_at,
                reason: key.reason(),
                holder: key.holder(&mut known),
                count: sum.count,
                total: Duration::from_nanos(sum.nanos),
                longest: Duration::from_nanos(sum.longest),
                stranded_time: Duration::from_nanos(sum.stranded),
                histogram: sum.histogram(),
            }
        });
        report.collect()
    }

    /// Undeclared blocking took so long. From the watchdog.
    pub(crate) fn spent_undeclared(&self, carrier: usize, stack: &[u64], nanos: u64) {
        self.store.undeclared.lock().add(carrier, stack, nanos);
    }

    /// Time of all of a carrier's pins that have ended.
    pub(crate) fn pinned_time(&self, carrier: usize) -> u64 {
        let pins = self.lane(carrier).and_then(Lane::measured);
        pins.map_or(0, Histograms::total) + self.store.undeclared.lock().total(carrier)
    }

    /// When a carrier started, on the runtime's clock.
    pub(crate) fn opened(&self, carrier: usize) -> Option<u64> {
        Some(self.lane(carrier)?.opened()?.0)
    }

    /// A carrier's sites by number, each with its time so far.
    pub(crate) fn site_times(&self, carrier: usize) -> Vec<(u64, u64)> {
        let pins = self.lane(carrier).and_then(Lane::measured);
        let places = pins.map(Histograms::places).unwrap_or_default();
        places
            .into_iter()
            .map(|(site, (_, nanos))| (site, nanos))
            .collect()
    }

    /// The site with that number; nothing is said of its cost.
    pub(crate) fn site(&self, number: u64) -> Option<Site> {
        (number != 0).then(|| Known::default().site(number))
    }

    /// The sites of all carriers with what they cost so far, undeclared blocking included. Names the lines of the
    /// latter, so it is not for a carrier.
    pub(crate) fn sites(&self) -> Vec<Site> {
        let mut costs = std::collections::HashMap::<u64, (u64, u64)>::new();
        for pins in self.store.lanes.iter().filter_map(Lane::measured) {
            for (site, (count, nanos)) in pins.places() {
                let cost = costs.entry(site).or_default();
                *cost = (cost.0 + count, cost.1 + nanos);
            }
        }
        let mut known = Known::default();
        let mut all: Vec<Site> = costs
            .into_iter()
            .map(|(site, (count, nanos))| Site {
                count,
                nanos,
                ..known.site(site)
            })
            .collect();
        let stacks = self.store.undeclared.lock().read();
        all.extend(sites::of_stacks(stacks));
        all
    }

    /// Makes the rings of a carrier that starts, on its thread, so that its first pin allocates nothing.
    pub(crate) fn open(&self, carrier: usize) {
        if let Some(lane) = self.store.lanes.get(carrier) {
            lane.open(self.store.capacity());
        }
    }

    /// A pinned wait of at least the threshold ended. On the carrier's own thread.
    pub(crate) fn pinned(&self, carrier: usize, raw: &RawPinned<'_>) {
        match self.lane(carrier) {
            Some(lane) => {
                let filled = write::pinned(self.ring(lane, EventClass::Pins), lane.cache(), raw);
                self.tell(true, filled);
            }
            None => self.report(Event::VirtualThreadPinned(self.describe(carrier, raw))),
        }
    }

    /// A declared foreign call took at least the threshold. On the carrier's own thread.
    pub(crate) fn native_call(&self, carrier: usize, raw: &RawNative<'_>) {
        if let Some(lane) = self.lane(carrier) {
            let filled = write::native(self.ring(lane, EventClass::Contention), lane.cache(), raw);
            self.tell(true, filled);
        }
    }

    /// A virtual thread started or ended. On the carrier's own thread. `told`: whether its start was recorded, so that its
    /// end is too. True if this was.
    #[inline]
    pub(crate) fn lifetime(
        &self,
        carrier: usize,
        which: Lifetime,
        thread: u64,
        name: Option<&str>,
        told: bool,
    ) -> bool {
        let traced = interest::in_events(match which {
            Lifetime::Start => interest::START,
            Lifetime::End => interest::END,
        });
        if (traced || self.store.has_readers(EventClass::Lifetimes))
            && let Some(lane) = self.lane(carrier)
            && (traced || may_tell(lane.budget(EventClass::Lifetimes), which, told))
        {
            let ring = self.ring(lane, EventClass::Lifetimes);
            self.tell(
                traced,
                write::lifetime(ring, which, clock::now(), thread, name),
            );
            return true;
        }
        false
    }

    /// Whether a park that begins is to be reported: asked first, so that nobody reads a clock for nothing. On the
    /// carrier's own thread; one that is not is counted where a reader would want it.
    #[inline]
    pub(crate) fn wants_park(&self, carrier: usize) -> bool {
        interest::in_events(interest::PARK | interest::UNPARK)
            || self.store.has_readers(EventClass::Parks)
                && self
                    .lane(carrier)
                    .is_some_and(|lane| lane.budget(EventClass::Parks).take())
    }

    /// A virtual thread is about to unmount. On the carrier's own thread. Only subscribers are told:
    /// readers get the whole pair from [`Hub::parked`].
    #[inline]
    pub(crate) fn parking(
        &self,
        carrier: usize,
        thread: u64,
        name: Option<&str>,
        operation: Operation,
        at: Timestamp,
    ) {
        if interest::in_events(interest::PARK)
            && let Some(lane) = self.lane(carrier)
        {
            let ring = self.ring(lane, EventClass::Parks);
            self.tell(true, write::park(ring, at, thread, name, operation, None));
        }
    }

    /// A virtual thread is mounted again at `at`, after `parked_ns`. On the carrier's own thread.
    #[inline]
    pub(crate) fn parked(
        &self,
        carrier: usize,
        thread: u64,
        name: Option<&str>,
        operation: Operation,
        at: Timestamp,
        parked_ns: u64,
    ) {
        let traced = interest::in_events(interest::UNPARK);
        if (traced || self.store.has_readers(EventClass::Parks))
            && let Some(lane) = self.lane(carrier)
        {
            let ring = self.ring(lane, EventClass::Parks);
            self.tell(
                traced,
                write::park(ring, at, thread, name, operation, Some(parked_ns)),
            );
        }
    }

    /// A pin as an event, for the watchdog: one that lasts, or one that was sampled.
    pub(crate) fn describe(&self, carrier: usize, raw: &RawPinned<'_>) -> Pinned {
        raw.to_pinned(carrier as u64, self.store.names())
    }

    /// A virtual thread as texts name it: `#7 name`.
    pub(crate) fn thread_text(&self, id: u64) -> Arc<str> {
        text::thread(id, self.store.names())
    }

    /// A lock or other thing as texts name it.
    pub(crate) fn subject_text(&self, subject: Subject) -> Arc<str> {
        text::subject(subject, self.store.names())
    }

    /// Anything from off the carriers. Takes a lock that is never held over foreign code.
    pub(crate) fn report(&self, event: Event) {
        self.store.report(clock::now(), event);
        self.service.nudge();
    }

    /// How texts find the names of threads (`#7 name`); called off the carriers. It must not keep the
    /// runtime alive.
    pub(crate) fn name_threads(&self, names: Box<ThreadNames>) {
        // The first one stays: a runtime has one registry of threads.
        let _ = self.store.names.set(names);
    }

    /// Waits until everything recorded before the call was handed to the dispatcher, at most `limit`.
    /// False when that took longer, or when called from inside a subscriber.
    pub(crate) fn flush(&self, limit: Duration) -> bool {
        self.service.flush(limit)
    }

    /// Before each flush calls `gather`, which makes what is known but not recorded yet a record.
    pub(crate) fn gather_with(&self, gather: impl Fn(Duration) + Send + Sync + 'static) {
        self.service.gather_with(Box::new(gather));
    }

    /// Flushes, for a bounded time, when the process exits.
    pub(crate) fn flush_at_exit(&self) {
        exit::flush(&self.service);
    }

    /// A reader with its own cursor, beginning with the oldest records still there.
    pub(crate) fn reader(&self) -> Reader {
        Reader::new(Arc::clone(&self.store))
    }

    /// How events have fared with subscribers so far.
    pub(crate) fn delivery(&self) -> Delivery {
        self.service.delivery()
    }

    fn lane(&self, carrier: usize) -> Option<&Lane> {
        debug_assert!(
            carrier < self.store.lanes.len(),
            "carrier {carrier} has a slot"
        );
        self.store.lanes.get(carrier)
    }

    fn ring<'a>(&self, lane: &'a Lane, class: EventClass) -> &'a Ring {
        lane.ring(class, self.store.capacity())
    }

    /// After a record: wakes `vt-events` if it has a part in this, and who reads if a ring fills.
    #[inline]
    fn tell(&self, traced: bool, filled: bool) {
        if traced {
            self.service.nudge();
        }
        if filled {
            self.store.press();
            if traced {
                self.service.press();
            }
        }
    }
}

/// Whether the throttle lets a start or an end be recorded.
fn may_tell(budget: &Budget, which: Lifetime, told: bool) -> bool {
    match which {
        Lifetime::Start => budget.take(),
        Lifetime::End => {
            let may = told || budget.is_endless();
            if !may {
                budget.leave_out();
            }
            may
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.service.close();
    }
}

#[cfg(test)]
mod tests;
