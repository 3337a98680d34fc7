//! The standstill: every carrier is kept by a pinned wait for a thread that has not started, and so needs a carrier.
//!
//! The graph of `deadlock` does not show it, because an unstarted thread waits for *any* carrier: it is stuck only if
//! all of them are. Nothing outside the runtime can end such waits, since only the awaited threads could, so like every
//! report of a deadlock it is certain. A wait for a channel or a permit proves nothing: an OS thread may serve it.

use std::fmt::Write;
use std::sync::Arc;

use super::deadlock;
use crate::event::{Deadlock, DeadlockKind, Event, Operation};
use crate::park::{Record, Waiting};
use crate::runtime::{DeadlockPolicy, Shared};

/// Between two looks, in nanoseconds.
const PATIENCE: u64 = 20_000_000;
/// Looks at which nothing may have moved.
const LOOKS: u32 = 3;

/// What the watchdog remembers between two looks.
#[derive(Default)]
pub(super) struct Standstill {
    looked: u64,
    /// Who kept the carriers, and for whom each of them waited.
    keepers: Vec<(u64, u64)>,
    seen: u32,
}

/// A thread that keeps its carrier, and the one it waits for.
struct Keeper {
    record: Arc<Record>,
    waiting: Waiting,
    awaited: Arc<Record>,
}

impl Standstill {
    pub(super) fn look(&mut self, shared: &Shared, now: u64) {
        if now.saturating_sub(self.looked) < PATIENCE {
            return;
        }
        self.looked = now;
        let Some(keepers) = keepers(shared) else {
            (self.keepers, self.seen) = (Vec::new(), 0);
            return;
        };
        let same: Vec<_> = keepers
            .iter()
            .map(|keeper| (keeper.record.id, keeper.awaited.id))
            .collect();
        self.seen = if same == self.keepers {
            self.seen + 1
        } else {
            1
        };
        self.keepers = same;
        if self.seen == LOOKS {
            report(shared, &keepers);
        } else if self.seen < LOOKS {
            // What they said about the owners was true when their waits began: let them say it anew.
            for keeper in &keepers {
                keeper.record.nudge(keeper.waiting.epoch);
            }
        }
    }
}

/// Those who keep the carriers, if each waits for ever for one that is stuck as well and at least one of these has not
/// started.
fn keepers(shared: &Shared) -> Option<Vec<Keeper>> {
    // A spare carrier would start them.
    if shared.settings.compensate_pinned {
        return None;
    }
    let keepers: Option<Vec<Keeper>> = shared
        .carriers()
        .map(|carrier| {
            let record = carrier.open_pin()?.record;
            let waiting = record.waiting().filter(|waiting| {
                !waiting.timed
                    && matches!(
                        waiting.operation,
                        Operation::Join | Operation::Lock | Operation::MonitorEnter
                    )
            })?;
            let awaited = shared.find(waiting.owner)?;
            Some(Keeper {
                record,
                waiting,
                awaited,
            })
        })
        .collect();
    let keepers = keepers?;
    // A started thread that is not mounted lives on one of these carriers, and all of them are kept.
    let needs_carrier = |keeper: &Keeper| keeper.awaited.home().is_none();
    keepers.iter().any(needs_carrier).then_some(keepers)
}

fn report(shared: &Shared, keepers: &[Keeper]) {
    let mut story = String::from("every carrier is kept: ");
    for (index, keeper) in keepers.iter().enumerate() {
        let state = if keeper.awaited.home().is_none() {
            "which has not started and needs a carrier"
        } else {
            "which needs a carrier too"
        };
        // Writing to a string cannot fail.
        let _ = write!(
            story,
            "{}{}{} waits at {} for {} of {}, {state}",
            if index == 0 { "" } else { "; " },
            shared.hub.thread_text(keeper.record.id),
            deadlock::pin_text(shared, &keeper.record),
            keeper.waiting.at,
            keeper.waiting.operation,
            shared.hub.thread_text(keeper.awaited.id),
        );
    }
    let cycle: Arc<str> = story.into();
    shared.hub.report(Event::PinnedDeadlock(Deadlock {
        kind: DeadlockKind::AllCarriersPinned,
        lock: None,
        owner: keepers
            .first()
            .map(|keeper| shared.hub.thread_text(keeper.awaited.id)),
        carriers: keepers
            .iter()
            .filter_map(|keeper| keeper.record.home())
            .map(|home| home as u64)
            .collect(),
        cycle: Arc::clone(&cycle),
    }));
    match shared.settings.deadlock_policy {
        DeadlockPolicy::Report => {}
        DeadlockPolicy::Abort => super::abort_with(&format!("deadlock: {cycle}")),
        DeadlockPolicy::Error => {
            if let Some(keeper) = keepers.first() {
                keeper.record.end_deadlocked(keeper.waiting.epoch, &cycle);
            }
        }
    }
}
