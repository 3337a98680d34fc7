//! Whether any `tracing` subscriber wants the events that are only recorded on demand.
//!
//! `tracing` tells each call site whether somebody is interested, and tells it again whenever a
//! subscriber is made. The probes below stand for the TRACE events' call sites and keep the answers in
//! one atomic, which a carrier can look at without asking a subscriber anything.

use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};

use tracing::level_filters::STATIC_MAX_LEVEL;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata};
use tracing_core::callsite::{Callsite, Identifier};
use tracing_core::field::FieldSet;
use tracing_core::metadata::Kind;

use crate::event::{EventClass, TARGET};

/// `VirtualThreadStart`.
pub(in crate::event) const START: u8 = 1;
/// `VirtualThreadEnd`.
pub(in crate::event) const END: u8 = 1 << 1;
/// `VirtualThreadPark`.
pub(in crate::event) const PARK: u8 = 1 << 2;
/// `VirtualThreadUnpark`.
pub(in crate::event) const UNPARK: u8 = 1 << 3;

/// The events somebody is interested in.
static WANTED: AtomicU8 = AtomicU8::new(0);

/// Whether a subscriber may want any of the given events. One relaxed load.
pub(in crate::event) fn in_events(events: u8) -> bool {
    WANTED.load(Ordering::Relaxed) & events != 0
}

/// Whether a subscriber may want events of this class. Pins, contention and errors are always kept:
/// they are rare, and a subscriber that comes later still gets them.
pub(in crate::event) fn in_class(class: EventClass) -> bool {
    match class {
        EventClass::Pins | EventClass::Contention => true,
        EventClass::Parks => in_events(PARK | UNPARK),
        EventClass::Lifetimes => in_events(START | END),
    }
}

/// Lets `tracing` keep the answers up to date from now on.
pub(in crate::event) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for probe in [&START_PROBE, &END_PROBE, &PARK_PROBE, &UNPARK_PROBE] {
            tracing_core::callsite::register(probe);
        }
    });
}

/// A call site that emits nothing.
struct Probe {
    bit: u8,
    metadata: Metadata<'static>,
}

static START_PROBE: Probe = Probe::new(START, "VirtualThreadStart", Identifier(&START_PROBE));
static END_PROBE: Probe = Probe::new(END, "VirtualThreadEnd", Identifier(&END_PROBE));
static PARK_PROBE: Probe = Probe::new(PARK, "VirtualThreadPark", Identifier(&PARK_PROBE));
static UNPARK_PROBE: Probe = Probe::new(UNPARK, "VirtualThreadUnpark", Identifier(&UNPARK_PROBE));

impl Probe {
    const fn new(bit: u8, name: &'static str, identifier: Identifier) -> Self {
        let fields = FieldSet::new(&[], identifier);
        let (file, line, module) = (Some(file!()), Some(line!()), Some(module_path!()));
        Self {
            bit,
            metadata: Metadata::new(
                name,
                TARGET,
                Level::TRACE,
                file,
                line,
                module,
                fields,
                Kind::EVENT,
            ),
        }
    }
}

impl Callsite for Probe {
    fn set_interest(&self, interest: Interest) {
        if interest.is_never() || Level::TRACE > STATIC_MAX_LEVEL {
            WANTED.fetch_and(!self.bit, Ordering::Relaxed);
        } else {
            WANTED.fetch_or(self.bit, Ordering::Relaxed);
        }
    }

    fn metadata(&self) -> &Metadata<'_> {
        &self.metadata
    }
}
