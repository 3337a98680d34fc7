//! When a carrier that has nothing to do takes what another one has not started.
//!
//! A thread is started cheapest where it was spawned: what it needs is in that core's cache, and those it will talk to
//! are likely to live there too, for life. So a carrier takes from another one
//! - at once if that one is stuck;
//! - else not before the work has been there for [`GLANCE`]: a spawner often comes to wait within a microsecond, and its
//!   carrier to what was spawned;
//! - and not while that one's threads are [fleeting](Ends): carried to another core each would cost more than it does,
//!   on both; unless it has mounted nobody for [`GRACE`].
//!
//! **Invariant (bounded):** who sees work and does not take it looks again within [`LOOK_AGAIN`], and takes it then unless the
//! other one goes on starting.

use std::cell::{Cell, RefCell};

use super::Carrier;
use crate::event;
use crate::primitive::Ordering;

/// Nanoseconds that work is left to the carrier that it was spawned on, at least.
const GLANCE: u64 = 5_000;
/// Nanoseconds without a mount after which fleeting threads are taken too.
const GRACE: u64 = 100_000;
/// Nanoseconds that a carrier which leaves work to others sleeps at a time. More often would cost it and them more, and take
/// threads away that had hardly been spawned: with 0.1 ms, one run in twenty of two threads that talk had them on two carriers.
pub(super) const LOOK_AGAIN: u64 = 1_000_000;
/// Nanoseconds that mounts take on average, at most, where threads are fleeting.
const THIN: u64 = 1_000;

/// What one carrier has seen of the work of others.
#[derive(Default)]
pub(super) struct Patience {
    seen: RefCell<Vec<Seen>>,
}

/// Of one other carrier.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Since when it has work, 0 if it had none; of a carrier with fleeting threads since it mounted somebody.
    since: u64,
    mounts: u64,
}

impl Patience {
    /// Has `other` something that is to be taken now?
    pub(super) fn is_over(&self, other: &Carrier) -> bool {
        let mut all = self.seen.borrow_mut();
        if all.len() <= other.id {
            all.resize(other.id + 1, Seen::default());
        }
        let seen = &mut all[other.id];
        if other.stealer.is_empty() {
            seen.since = 0;
            return false;
        }
        if other.is_stuck() {
            return true;
        }
        let now = event::now().0;
        let mounts = other.mounts.load(Ordering::Relaxed);
        if seen.since == 0 {
            *seen = Seen { since: now, mounts };
            return false;
        }
        let waited = now.saturating_sub(seen.since);
        if !other.fleeting.load(Ordering::Relaxed) {
            return waited >= GLANCE;
        }
        if seen.mounts != mounts {
            *seen = Seen { since: now, mounts };
            return false;
        }
        waited >= GRACE
    }
}

/// Ends between two looks of a carrier at its pace: are its threads fleeting, so that most mounts are short and the last
/// of their threads?
#[derive(Default)]
pub(super) struct Ends {
    count: Cell<u32>,
    was_so: Cell<bool>,
}

impl Ends {
    pub(super) fn add(&self) {
        self.count.set(self.count.get() + 1);
    }

    /// After a look: that many mounts took so long each, on average, if that is known.
    pub(super) fn are_fleeting(&self, mounts: u32, each: Option<u64>) -> bool {
        let ends = self.count.take();
        let is_so = each.is_some_and(|each| each < THIN) && ends * 4 >= mounts;
        // One time of another kind is their spawner's turn.
        self.was_so.replace(is_so) || is_so
    }

    /// Nothing is known of what comes after a pause.
    pub(super) fn forget(&self) {
        self.count.set(0);
    }
}
