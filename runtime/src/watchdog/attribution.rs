//! Whose fault is it: the share of each carrier's time that pins took, and the sites they were taken at.
//!
//! While more than half of a carrier's time goes into pins the service is a thread pool again, whatever it was written
//! for. No single event says so when each pin is short; this one does, once for each time it begins.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::carrier::Carrier;
use crate::event::{self, Event, MostlyPinned, Site};
use crate::runtime::{CarrierPins, PinnedSite, Shared};

/// The time over which shares are judged, in nanoseconds.
const WINDOW: u64 = 1_000_000_000;

/// Pinned time of one carrier since the runtime started, the pin under way included.
fn pinned(shared: &Shared, carrier: &Carrier, now: u64) -> u64 {
    let open = carrier
        .open_pin()
        .map_or(0, |open| now.saturating_sub(open.start.0));
    shared.hub.pinned_time(carrier.id) + open
}

/// What pins took of each carrier so far.
pub(crate) fn by_carrier(shared: &Shared) -> Vec<CarrierPins> {
    let now = event::now().0;
    let read = |carrier: &Arc<Carrier>| {
        let since = shared.hub.opened(carrier.id).unwrap_or(now);
        CarrierPins {
            carrier: carrier.id,
            pinned: Duration::from_nanos(pinned(shared, carrier, now)),
            alive: Duration::from_nanos(now.saturating_sub(since)),
        }
    };
    shared.carriers().map(read).collect()
}

/// What pins took by the sites they were taken at, the costliest first.
pub(crate) fn by_site(shared: &Shared) -> Vec<PinnedSite> {
    let now = event::now().0;
    let alive: u64 = shared
        .carriers()
        .map(|carrier| now.saturating_sub(shared.hub.opened(carrier.id).unwrap_or(now)))
        .sum();
    let share = |nanos: u64| nanos as f64 / (alive.max(1)) as f64;
    let mut sites: Vec<PinnedSite> = shared
        .hub
        .sites()
        .into_iter()
        .map(|site| PinnedSite {
            pinned_at: site.pinned_at,
            blocked_at: site.blocked_at,
            count: site.count,
            total: Duration::from_nanos(site.nanos),
            share: share(site.nanos),
        })
        .collect();
    sites.sort_by_key(|site| std::cmp::Reverse(site.total));
    sites
}

/// One carrier's last second.
pub(super) struct Window {
    began: u64,
    /// Pinned time when it began.
    pinned: u64,
    /// The sites' times when it began, by their numbers.
    sites: HashMap<u64, u64>,
    /// The window before was mostly pinned, and reported as such.
    reported: bool,
}

impl Window {
    pub(super) fn new(now: u64) -> Self {
        Self {
            began: now,
            pinned: 0,
            sites: HashMap::new(),
            reported: false,
        }
    }

    /// Judges the window once it is over, and begins the next one.
    pub(super) fn look(&mut self, shared: &Shared, carrier: &Carrier, now: u64) {
        let length = now.saturating_sub(self.began);
        if length < WINDOW {
            return;
        }
        let total = pinned(shared, carrier, now);
        let taken = total.saturating_sub(self.pinned);
        let is_most = taken > length / 2;
        if is_most && !self.reported {
            let site = self.costliest(shared, carrier);
            shared.hub.report(Event::CarrierMostlyPinned(MostlyPinned {
                carrier: carrier.id as u64,
                pinned: Duration::from_nanos(taken),
                window: Duration::from_nanos(length),
                pinned_at: site.as_ref().and_then(|site| site.pinned_at.clone()),
                blocked_at: site.and_then(|site| site.blocked_at),
            }));
        }
        self.reported = is_most;
        self.began = now;
        self.pinned = total;
        self.sites = shared.hub.site_times(carrier.id).into_iter().collect();
    }

    /// The site that took most of the window; without one that has ended, the pin that is under way.
    fn costliest(&self, shared: &Shared, carrier: &Carrier) -> Option<Site> {
        let times = shared.hub.site_times(carrier.id).into_iter();
        let grown = times.map(|(site, nanos)| {
            let before = self.sites.get(&site).copied().unwrap_or(0);
            (site, nanos.saturating_sub(before))
        });
        let (site, nanos) = grown.max_by_key(|&(_, nanos)| nanos).unwrap_or((0, 0));
        if nanos > 0 {
            return shared.hub.site(site);
        }
        let open = carrier.open_pin()?;
        let waiting = open.record.waiting()?;
        Some(Site::of(open.pin.outermost.at, Some(waiting.at)))
    }
}
