//! Spare carriers, for the time in which a declared region blocks a regular one.
//!
//! A spare is started, or woken, when a region is open, no carrier is free and work that has not started waits. It
//! takes such work only while no regular carrier can. What it starts lives on it to its end; an idle spare sleeps and
//! is there for the next region.
//!
//! **Invariant (no work left):** `open_region` counts the region, then looks for work; a spawn places its work, then
//! looks for regions. Both issue a SeqCst fence in between, so at least one of them sees the other.

use std::sync::Arc;

use parking_lot::Mutex;

use super::Shared;
use super::shared::NoCarrier;
use crate::carrier::{Carrier, Role, Status};
use crate::event::{Compensation, Event};
use crate::primitive::{AtomicUsize, Ordering, fence};

/// The regions that are compensated for.
#[derive(Default)]
pub(super) struct Regions {
    count: AtomicUsize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    reasons: Vec<&'static str>,
    /// A spare was refused and this was reported; again only after a region has ended.
    refused: bool,
}

/// Could it start what others have not?
pub(super) fn is_free(carrier: &Carrier) -> bool {
    carrier.role != Role::Dedicated && matches!(carrier.status(), Status::Idle | Status::Running)
}

impl Shared {
    /// The calling carrier, whose status says so already, will be blocked by `reason`.
    pub(crate) fn open_region(self: &Arc<Self>, reason: &'static str) {
        self.regions.open.lock().reasons.push(reason);
        self.regions.count.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.compensate();
    }

    /// It is free again.
    pub(crate) fn close_region(&self, reason: &'static str) {
        let mut open = self.regions.open.lock();
        if let Some(index) = open.reasons.iter().rposition(|&other| other == reason) {
            open.reasons.swap_remove(index);
        }
        open.refused = false;
        self.regions.count.fetch_sub(1, Ordering::SeqCst);
    }

    /// Sees to it that somebody starts what waits, if a region is open and nobody would.
    pub(super) fn compensate(self: &Arc<Self>) {
        if self.regions.count.load(Ordering::SeqCst) == 0 || !self.must_help() {
            return;
        }
        let mut open = self.regions.open.lock();
        // Another one may have helped meanwhile.
        if open.reasons.is_empty() || !self.must_help() {
            return;
        }
        if let Some(idle) = self.carriers().find(|carrier| is_free(carrier)) {
            idle.wake_up();
            return;
        }
        let max = self.settings.max_carriers;
        let live = self.carriers().count();
        let started = self
            .start_carrier(Role::Spare)
            .map_err(|refused| match refused {
                NoCarrier::Cap => "cap",
                NoCarrier::Os(_) => "os",
            });
        let compensation = |live: usize, cause: &str| Compensation {
            reason: (*open.reasons.last().unwrap_or(&"")).into(),
            live: live as u64,
            max: max as u64,
            cause: cause.into(),
        };
        match started {
            Ok(_) => {
                let event = Event::CarrierCompensated(compensation(live + 1, ""));
                self.hub.report(event);
            }
            Err(cause) if !open.refused => {
                let event = Event::CompensationExhausted(compensation(live, cause));
                open.refused = true;
                self.hub.report(event);
            }
            Err(_) => {}
        }
    }

    fn must_help(&self) -> bool {
        self.has_unstarted()
            && !self
                .carriers()
                .any(|carrier| is_free(carrier) && carrier.status() == Status::Running)
    }

    /// Is that carrier no regular one, but there to compensate or for one thread?
    pub(crate) fn is_spare(&self, carrier: usize) -> bool {
        carrier >= self.settings.carriers
    }

    /// May that carrier start what others have not? A spare only while no regular carrier can.
    pub(crate) fn may_take(&self, carrier: usize) -> bool {
        match self.carrier(carrier).role {
            Role::Regular => true,
            Role::Dedicated => false,
            Role::Spare => !self
                .carriers()
                .take(self.settings.carriers)
                .any(|regular| is_free(regular)),
        }
    }
}
