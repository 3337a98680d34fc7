//! `tracing` events back to the schema's types, for layers and for tests that capture.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tracing::field::{Field, Visit};

use super::{
    CarrierState, Compensation, Deadlock, DeadlockKind, Event, EventClass, MostlyPinned, Operation,
    PinReason, PinSource, Pinned, Place, Stalled, TARGET, ThreadRef, Timestamp, UNKNOWN,
    WaitOutcome, clock,
};

/// The runtime's event in a `tracing` event; `None` for everybody else's, and for one that lacks a field.
///
/// [`Pinned::start`] is not a field: it is reckoned from the present moment, so it is late by the time
/// the event took to reach the caller.
#[must_use]
pub fn decode(event: &tracing::Event<'_>) -> Option<Event> {
    let metadata = event.metadata();
    if metadata.target() != TARGET {
        return None;
    }
    let mut fields = Fields::default();
    event.record(&mut fields);
    fields.event(metadata.name())
}

/// The fields of one event.
#[derive(Default)]
struct Fields(Vec<(&'static str, Value)>);

enum Value {
    Number(u64),
    Text(Arc<str>),
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.push((field.name(), Value::Number(value)));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), Value::Text(value.into())));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0
            .push((field.name(), Value::Text(format!("{value:?}").into())));
    }
}

impl Fields {
    fn event(&self, name: &str) -> Option<Event> {
        Some(match name {
            "VirtualThreadPinned" => Event::VirtualThreadPinned(self.pinned("duration_ns")?),
            "VirtualThreadPinnedLive" => Event::VirtualThreadPinnedLive(self.pinned("elapsed_ns")?),
            "PinnedDeadlock" => Event::PinnedDeadlock(Deadlock {
                kind: DeadlockKind::from_text(self.text("kind")?)?,
                lock: self.optional("lock"),
                owner: self.optional("owner"),
                carriers: self.list("carriers", |id| id.parse().ok()),
                cycle: self.optional("cycle")?,
            }),
            "CarrierStalled" => Event::CarrierStalled(Stalled {
                carrier: self.number("carrier.id")?,
                thread: self.thread()?,
                state: self.state()?,
                stranded: self.count("stranded")?,
                elapsed: self.duration("elapsed_ns")?,
                native: self.optional("native"),
                stack: self.stack(),
            }),
            "CarrierMostlyPinned" => Event::CarrierMostlyPinned(MostlyPinned {
                carrier: self.number("carrier.id")?,
                pinned: self.duration("pinned_ns")?,
                window: self.duration("window_ns")?,
                pinned_at: self.place("pinned_at"),
                blocked_at: self.place("blocked_at"),
            }),
            "CarrierCompensated" => Event::CarrierCompensated(self.compensation()?),
            "CompensationExhausted" => Event::CompensationExhausted(self.compensation()?),
            "NativeCall" => Event::NativeCall {
                thread: self.thread()?,
                carrier: self.number("carrier.id")?,
                native: self.optional("native")?,
                wall: self.duration("wall_ns")?,
                state: self.state()?,
            },
            "OffloadQueued" => Event::OffloadQueued {
                thread: self.thread()?,
                queued: self.duration("queued_ns")?,
                max: self.number("max")?,
            },
            "VirtualThreadSubmitFailed" => Event::VirtualThreadSubmitFailed {
                cause: self.optional("cause")?,
                live: self.number("live")?,
                cap: self.number("cap")?,
            },
            "VirtualThreadStart" => Event::VirtualThreadStart {
                thread: self.thread()?,
                carrier: self.number("carrier.id")?,
            },
            "VirtualThreadEnd" => Event::VirtualThreadEnd {
                thread: self.thread()?,
                carrier: self.number("carrier.id")?,
            },
            "VirtualThreadPark" => Event::VirtualThreadPark {
                thread: self.thread()?,
                operation: self.operation()?,
            },
            "VirtualThreadUnpark" => Event::VirtualThreadUnpark {
                thread: self.thread()?,
                operation: self.operation()?,
                parked: self.duration("parked_ns")?,
            },
            "MonitorLeaked" => Event::MonitorLeaked {
                thread: self.thread()?,
                lock: self.optional("lock"),
                pinned_at: self.place("pinned_at"),
            },
            "EventsDropped" => Event::EventsDropped {
                class: EventClass::from_text(self.text("class")?)?,
                count: self.number("count")?,
            },
            _ => return None,
        })
    }

    fn pinned(&self, duration: &str) -> Option<Pinned> {
        let duration = self.duration(duration)?;
        Some(Pinned {
            thread: self.thread()?,
            carrier: self.number("carrier.id")?,
            span: self.number("span.id"),
            reason: PinReason::from_text(self.text("reason")?)?,
            operation: self.operation()?,
            start: Timestamp(clock::now().0.saturating_sub(clock::nanos(duration))),
            duration,
            pinned_at: self.place("pinned_at"),
            blocked_at: self.place("blocked_at"),
            lock: self.optional("lock"),
            waits_for: self.optional("waits_for"),
            waits_owner: self.optional("waits_owner"),
            native: self.optional("native"),
            depth: self.count("depth")?,
            stranded: self.count("stranded")?,
            stranded_time: self.duration("stranded_ns")?,
            outcome: WaitOutcome::from_text(self.text("outcome")?)?,
            source: PinSource::from_text(self.text("source")?)?,
            stack: self.stack(),
        })
    }

    fn compensation(&self) -> Option<Compensation> {
        Some(Compensation {
            reason: self.optional("reason")?,
            live: self.number("live")?,
            max: self.number("max")?,
            cause: self.optional("cause").unwrap_or_default(),
        })
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value)
    }

    fn number(&self, name: &str) -> Option<u64> {
        match self.value(name)? {
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
        }
    }

    fn optional(&self, name: &str) -> Option<Arc<str>> {
        match self.value(name)? {
            Value::Text(text) => Some(Arc::clone(text)),
            Value::Number(_) => None,
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            Value::Text(text) => Some(text),
            Value::Number(_) => None,
        }
    }

    fn count(&self, name: &str) -> Option<u32> {
        self.number(name)?.try_into().ok()
    }

    fn duration(&self, name: &str) -> Option<Duration> {
        self.number(name).map(Duration::from_nanos)
    }

    fn thread(&self) -> Option<ThreadRef> {
        Some(ThreadRef {
            id: self.number("thread.id")?,
            name: self.optional("thread.name")?,
        })
    }

    fn operation(&self) -> Option<Operation> {
        Operation::from_text(self.text("operation")?)
    }

    fn state(&self) -> Option<CarrierState> {
        CarrierState::from_text(self.text("state")?)
    }

    /// `path:line:column`; the path may contain colons.
    fn place(&self, name: &str) -> Option<Place> {
        let text = self.text(name).filter(|text| *text != UNKNOWN)?;
        let mut parts = text.rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        Some(Place {
            file: parts.next()?.into(),
            line,
            column,
        })
    }

    fn stack(&self) -> Vec<u64> {
        self.list("stack", |address| {
            u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()
        })
    }

    fn list(&self, name: &str, parse: impl Fn(&str) -> Option<u64>) -> Vec<u64> {
        self.text(name)
            .unwrap_or_default()
            .split(',')
            .filter_map(parse)
            .collect()
    }
}

#[cfg(test)]
mod tests;
