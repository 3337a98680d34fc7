//! Collects the events of one runtime, by value.

use std::sync::{Arc, Mutex};

use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Metadata, Subscriber};
use vt_runtime::Runtime;
use vt_runtime::event::{self, Event, PinSource, Pinned, Place};

/// A subscriber that keeps every event of the runtime it is given to.
#[derive(Clone, Default)]
pub struct Capture {
    events: Arc<Mutex<Vec<Event>>>,
}

impl Capture {
    /// Nothing captured yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// To be given to a runtime's builder.
    #[must_use]
    pub fn dispatch(&self) -> Dispatch {
        Dispatch::new(self.clone())
    }

    /// Everything captured, after a flush of the runtime.
    ///
    /// # Panics
    ///
    /// If the flush takes too long.
    #[must_use]
    pub fn events(&self, runtime: &Runtime) -> Vec<Event> {
        assert!(runtime.flush_events(), "the events are not delivered");
        self.events
            .lock()
            .expect("no panic while collecting")
            .clone()
    }

    /// The pinned waits and declared calls among them. What the watchdog saw is not: on a busy machine that can be a lock of std's
    /// or of a library whose owner was kept from its core, which no test can foresee.
    #[must_use]
    pub fn pinned(&self, runtime: &Runtime) -> Vec<Pinned> {
        let mut pins = self.pinned_or_sampled(runtime);
        pins.retain(|pin| pin.source != PinSource::Sampled);
        pins
    }

    /// Every pin among them, undeclared blocking too.
    #[must_use]
    pub fn pinned_or_sampled(&self, runtime: &Runtime) -> Vec<Pinned> {
        let pinned = |event| match event {
            Event::VirtualThreadPinned(pinned) => Some(pinned),
            _ => None,
        };
        self.events(runtime)
            .into_iter()
            .filter_map(pinned)
            .collect()
    }

    /// What stands there now, without a flush: for events that come while something lasts.
    ///
    /// # Panics
    ///
    /// If a collector panicked.
    #[must_use]
    pub fn so_far(&self) -> Vec<Event> {
        self.events
            .lock()
            .expect("no panic while collecting")
            .clone()
    }

    /// Forgets what was captured.
    ///
    /// # Panics
    ///
    /// If a collector panicked.
    pub fn clear(&self) {
        self.events
            .lock()
            .expect("no panic while collecting")
            .clear();
    }
}

impl Subscriber for Capture {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == event::TARGET && metadata.is_event()
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        if let Some(event) = event::decode(event) {
            self.events
                .lock()
                .expect("no panic while collecting")
                .push(event);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The line of a place, 0 if there is none.
#[must_use]
pub fn line_of(place: Option<&Place>) -> u32 {
    place.map_or(0, |place| place.line)
}
