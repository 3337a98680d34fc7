//! From records to bytes.

use std::sync::Arc;
use std::time::Duration;

use vt_runtime::event::{Compensation, Event, EventClass, Pinned, Place, ThreadRef};

use super::{LEVELS, tag};
use crate::format::{is_unnamed, varint};
use crate::store::segment::Tables;
use crate::store::{ProgramRecord, Record};

/// Appends records to a segment.
pub(in crate::store) struct Encoder<'a> {
    bytes: &'a mut Vec<u8>,
    tables: &'a mut Tables,
}

impl<'a> Encoder<'a> {
    pub(in crate::store) fn new(bytes: &'a mut Vec<u8>, tables: &'a mut Tables) -> Self {
        Self { bytes, tables }
    }

    fn number(&mut self, value: u64) {
        varint::put(self.bytes, value);
    }

    fn numbers<const N: usize>(&mut self, values: [u64; N]) {
        values.into_iter().for_each(|value| self.number(value));
    }

    fn text(&mut self, text: &Arc<str>) {
        let id = self.tables.text_id(text);
        self.number(id);
    }

    /// 0 for none, else the text's number and one.
    fn maybe(&mut self, text: Option<&Arc<str>>) {
        let id = text.map_or(0, |text| self.tables.text_id(text) + 1);
        self.number(id);
    }

    fn span(&mut self, duration: Duration) {
        self.number(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    fn thread(&mut self, thread: &ThreadRef) {
        self.number(thread.id);
        self.name(thread.id, &thread.name);
    }

    /// Names that the runtime makes are made again: there are as many of them as threads.
    fn name(&mut self, id: u64, name: &Arc<str>) {
        let is_given = !is_unnamed(id, name);
        self.maybe(is_given.then_some(name));
    }

    fn place(&mut self, place: Option<&Place>) {
        self.maybe(place.map(|place| &place.file));
        if let Some(place) = place {
            self.numbers([place.line.into(), place.column.into()]);
        }
    }

    fn stack(&mut self, stack: &[u64]) {
        let id = self.tables.stack_id(stack);
        self.number(id);
    }

    pub(in crate::store) fn record(&mut self, record: &Record) {
        match record {
            Record::Runtime(recorded) => self.event(recorded.at.0, &recorded.event),
            Record::Program(record) => self.program(record),
        }
    }

    fn event(&mut self, at: u64, event: &Event) {
        match event {
            Event::VirtualThreadPinned(pinned) => self.pinned(tag::PINNED, at, pinned),
            Event::VirtualThreadPinnedLive(pinned) => self.pinned(tag::LIVE, at, pinned),
            Event::PinnedDeadlock(deadlock) => {
                self.numbers([tag::DEADLOCK, at, deadlock.kind as u64]);
                self.maybe(deadlock.lock.as_ref());
                self.maybe(deadlock.owner.as_ref());
                self.text(&deadlock.cycle);
                self.stack(&deadlock.carriers);
            }
            Event::CarrierStalled(stalled) => {
                self.numbers([tag::STALLED, at, stalled.carrier, stalled.state as u64]);
                self.thread(&stalled.thread);
                self.number(stalled.stranded.into());
                self.span(stalled.elapsed);
                self.maybe(stalled.native.as_ref());
                self.stack(&stalled.stack);
            }
            Event::CarrierCompensated(facts) => self.compensation(tag::COMPENSATED, at, facts),
            Event::CompensationExhausted(facts) => self.compensation(tag::EXHAUSTED, at, facts),
            Event::NativeCall {
                thread,
                carrier,
                native,
                wall,
                state,
            } => {
                self.numbers([tag::NATIVE, at, *carrier, *state as u64]);
                self.thread(thread);
                self.text(native);
                self.span(*wall);
            }
            Event::OffloadQueued {
                thread,
                queued,
                max,
            } => {
                self.numbers([tag::QUEUED, at, *max]);
                self.thread(thread);
                self.span(*queued);
            }
            Event::VirtualThreadSubmitFailed { cause, live, cap } => {
                self.numbers([tag::FAILED, at, *live, *cap]);
                self.text(cause);
            }
            Event::VirtualThreadStart { thread, carrier } => {
                self.numbers([tag::START, at, *carrier]);
                self.thread(thread);
            }
            Event::VirtualThreadEnd { thread, carrier } => {
                self.numbers([tag::END, at, *carrier]);
                self.thread(thread);
            }
            Event::VirtualThreadPark { thread, operation } => {
                self.numbers([tag::PARK, at, *operation as u64]);
                self.thread(thread);
            }
            Event::VirtualThreadUnpark {
                thread,
                operation,
                parked,
            } => {
                self.numbers([tag::UNPARK, at, *operation as u64]);
                self.thread(thread);
                self.span(*parked);
            }
            Event::MonitorLeaked {
                thread,
                lock,
                pinned_at,
            } => {
                self.numbers([tag::LEAKED, at]);
                self.thread(thread);
                self.maybe(lock.as_ref());
                self.place(pinned_at.as_ref());
            }
            Event::EventsDropped { class, count } => {
                self.numbers([tag::DROPPED, at, *class as u64, *count]);
            }
            // An event this version does not know: its loss is counted rather than hidden.
            _ => self.numbers([tag::DROPPED, at, EventClass::Pins as u64, 1]),
        }
    }

    fn pinned(&mut self, tag: u64, at: u64, pinned: &Pinned) {
        self.numbers([
            tag,
            at,
            pinned.carrier,
            pinned.start.0,
            pinned.span.unwrap_or(0),
        ]);
        self.numbers([pinned.reason as u64, pinned.operation as u64]);
        self.numbers([pinned.outcome as u64, pinned.source as u64]);
        self.numbers([pinned.depth.into(), pinned.stranded.into()]);
        self.thread(&pinned.thread);
        self.span(pinned.duration);
        self.span(pinned.stranded_time);
        self.place(pinned.pinned_at.as_ref());
        self.place(pinned.blocked_at.as_ref());
        for text in [
            &pinned.lock,
            &pinned.waits_for,
            &pinned.waits_owner,
            &pinned.native,
        ] {
            self.maybe(text.as_ref());
        }
        self.stack(&pinned.stack);
    }

    fn compensation(&mut self, tag: u64, at: u64, facts: &Compensation) {
        self.numbers([tag, at, facts.live, facts.max]);
        self.text(&facts.reason);
        self.text(&facts.cause);
    }

    fn program(&mut self, record: &ProgramRecord) {
        self.numbers([
            tag::PROGRAM,
            record.at.0,
            record.thread,
            record.span,
            record.parent,
        ]);
        // 0 for an event, else the span's length and one.
        let length = record
            .duration
            .map_or(0, |length| length.as_nanos().saturating_add(1));
        self.number(u64::try_from(length).unwrap_or(u64::MAX));
        self.number(
            LEVELS
                .iter()
                .position(|level| *level == record.level)
                .unwrap_or(0) as u64,
        );
        self.name(record.thread, &record.thread_name);
        for text in [&record.target, &record.text, &record.fields] {
            self.text(text);
        }
    }
}
