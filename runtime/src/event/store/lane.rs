//! One carrier's rings, one for each class of events, and its memory of statics.
//!
//! **Invariant:** only the carrier's own OS thread writes to its lane. Rings are made at the first
//! record of their class, so a slot for a carrier that never starts costs a few words.

use std::sync::OnceLock;

use super::histograms::Histograms;
use super::ring::Ring;
use super::throttle::Budget;
use crate::event::codec::intern::Cache;
use crate::event::{EventClass, Timestamp, clock};

/// The lane.
#[derive(Debug, Default)]
pub(in crate::event) struct Lane {
    cache: OnceLock<Cache>,
    histograms: OnceLock<Histograms>,
    opened: OnceLock<Timestamp>,
    rings: [OnceLock<Ring>; EventClass::COUNT],
    budgets: [Budget; EventClass::COUNT],
}

impl Lane {
    /// The ring to write records of `class` to. Allocates at the first call only.
    pub(in crate::event) fn ring(&self, class: EventClass, capacity: usize) -> &Ring {
        self.rings[class as usize].get_or_init(|| Ring::new(words(class, capacity)))
    }

    /// The ring of `class`, if anything was ever written to it.
    pub(in crate::event) fn written(&self, class: EventClass) -> Option<&Ring> {
        self.rings[class as usize].get()
    }

    /// How many records of `class` may be made.
    #[inline]
    pub(in crate::event) fn budget(&self, class: EventClass) -> &Budget {
        &self.budgets[class as usize]
    }

    /// The carrier's memory of statics. Allocates at the first call only.
    pub(in crate::event) fn cache(&self) -> &Cache {
        self.cache.get_or_init(Cache::new)
    }

    /// How long its pins took. Allocates at the first call only.
    pub(in crate::event) fn histograms(&self) -> &Histograms {
        self.histograms.get_or_init(Histograms::new)
    }

    /// How long its pins took, if it was ever opened.
    pub(in crate::event) fn measured(&self) -> Option<&Histograms> {
        self.histograms.get()
    }

    /// When its carrier started.
    pub(in crate::event) fn opened(&self) -> Option<Timestamp> {
        self.opened.get().copied()
    }

    /// Makes what pins need, so that the first pin allocates nothing.
    pub(in crate::event) fn open(&self, capacity: usize) {
        self.opened.get_or_init(clock::now);
        self.cache();
        self.histograms();
        self.ring(EventClass::Pins, capacity);
    }
}

/// The size of a class's ring when `capacity` pins are to be kept: a pin with name and stack has about
/// 64 words, a foreign call 8, a park or a start 6; parks come in floods.
fn words(class: EventClass, capacity: usize) -> usize {
    let each = match class {
        EventClass::Pins => 64,
        EventClass::Contention => 16,
        EventClass::Parks => 64,
        EventClass::Lifetimes => 32,
    };
    capacity.saturating_mul(each).min(1 << 28)
}
