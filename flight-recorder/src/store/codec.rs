//! Records as bytes within a segment. Never leaves the process, so it has no version: whatever
//! [`Encoder`] writes, the [`Decoder`] beside it reads.

use std::sync::Arc;
use std::time::Duration;

use vt_runtime::event::{
    CarrierState, Compensation, Deadlock, DeadlockKind, Event, EventClass, Operation, PinReason,
    PinSource, Pinned, Place, Recorded, Stalled, ThreadRef, Timestamp, WaitOutcome,
};

use super::segment::Tables;
use super::{ProgramRecord, Record};
use crate::format::varint;
use crate::read::Cursor;

/// What a record is: its first byte.
mod tag {
    pub(super) const PINNED: u64 = 0;
    pub(super) const LIVE: u64 = 1;
    pub(super) const DEADLOCK: u64 = 2;
    pub(super) const STALLED: u64 = 3;
    pub(super) const COMPENSATED: u64 = 4;
    pub(super) const EXHAUSTED: u64 = 5;
    pub(super) const NATIVE: u64 = 6;
    pub(super) const FAILED: u64 = 7;
    pub(super) const START: u64 = 8;
    pub(super) const END: u64 = 9;
    pub(super) const PARK: u64 = 10;
    pub(super) const UNPARK: u64 = 11;
    pub(super) const LEAKED: u64 = 12;
    pub(super) const DROPPED: u64 = 13;
    pub(super) const PROGRAM: u64 = 14;
    pub(super) const QUEUED: u64 = 15;
}

/// Appends records to a segment.
pub(super) struct Encoder<'a> {
    bytes: &'a mut Vec<u8>,
    tables: &'a mut Tables,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(bytes: &'a mut Vec<u8>, tables: &'a mut Tables) -> Self {
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
        self.text(&thread.name);
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

    pub(super) fn record(&mut self, record: &Record) {
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
        for text in [
            &record.thread_name,
            &record.target,
            &record.text,
            &record.fields,
        ] {
            self.text(text);
        }
    }
}

/// The levels of `tracing`, by number.
const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

/// Reads a segment's records.
pub(super) struct Decoder<'a> {
    cursor: Cursor<'a>,
    tables: &'a Tables,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8], tables: &'a Tables) -> Self {
        Self {
            cursor: Cursor::new(bytes),
            tables,
        }
    }

    fn number(&mut self) -> Option<u64> {
        self.cursor.integer().ok()
    }

    fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// The value with the number that comes next.
    fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let index = usize::try_from(self.number()?).ok()?;
        all.get(index).copied()
    }

    fn text(&mut self) -> Option<Arc<str>> {
        self.number().and_then(|id| self.tables.text(id))
    }

    fn maybe(&mut self) -> Option<Option<Arc<str>>> {
        match self.number()? {
            0 => Some(None),
            id => Some(Some(self.tables.text(id - 1)?)),
        }
    }

    fn span(&mut self) -> Option<Duration> {
        self.number().map(Duration::from_nanos)
    }

    fn thread(&mut self) -> Option<ThreadRef> {
        Some(ThreadRef {
            id: self.number()?,
            name: self.text()?,
        })
    }

    fn place(&mut self) -> Option<Option<Place>> {
        let Some(file) = self.maybe()? else {
            return Some(None);
        };
        Some(Some(Place {
            file,
            line: self.small()?,
            column: self.small()?,
        }))
    }

    fn stack(&mut self) -> Option<Vec<u64>> {
        self.number().map(|id| self.tables.stack(id))
    }

    /// The next record; `None` at the end.
    pub(super) fn record(&mut self) -> Option<Record> {
        let (tag, at) = (self.number()?, Timestamp(self.number()?));
        if tag == tag::PROGRAM {
            return self.program(at).map(Record::Program);
        }
        let event = match tag {
            tag::PINNED => Event::VirtualThreadPinned(self.pinned()?),
            tag::LIVE => Event::VirtualThreadPinnedLive(self.pinned()?),
            tag::DEADLOCK => Event::PinnedDeadlock(Deadlock {
                kind: self.one_of(DeadlockKind::ALL)?,
                lock: self.maybe()?,
                owner: self.maybe()?,
                cycle: self.text()?,
                carriers: self.stack()?,
            }),
            tag::STALLED => Event::CarrierStalled(Stalled {
                carrier: self.number()?,
                state: self.one_of(CarrierState::ALL)?,
                thread: self.thread()?,
                stranded: self.small()?,
                elapsed: self.span()?,
                native: self.maybe()?,
                stack: self.stack()?,
            }),
            tag::COMPENSATED => Event::CarrierCompensated(self.compensation()?),
            tag::EXHAUSTED => Event::CompensationExhausted(self.compensation()?),
            tag::NATIVE => Event::NativeCall {
                carrier: self.number()?,
                state: self.one_of(CarrierState::ALL)?,
                thread: self.thread()?,
                native: self.text()?,
                wall: self.span()?,
            },
            tag::QUEUED => Event::OffloadQueued {
                max: self.number()?,
                thread: self.thread()?,
                queued: self.span()?,
            },
            tag::FAILED => Event::VirtualThreadSubmitFailed {
                live: self.number()?,
                cap: self.number()?,
                cause: self.text()?,
            },
            tag::START => Event::VirtualThreadStart {
                carrier: self.number()?,
                thread: self.thread()?,
            },
            tag::END => Event::VirtualThreadEnd {
                carrier: self.number()?,
                thread: self.thread()?,
            },
            tag::PARK => Event::VirtualThreadPark {
                operation: self.one_of(Operation::ALL)?,
                thread: self.thread()?,
            },
            tag::UNPARK => Event::VirtualThreadUnpark {
                operation: self.one_of(Operation::ALL)?,
                thread: self.thread()?,
                parked: self.span()?,
            },
            tag::LEAKED => Event::MonitorLeaked {
                thread: self.thread()?,
                lock: self.maybe()?,
                pinned_at: self.place()?,
            },
            tag::DROPPED => Event::EventsDropped {
                class: self.one_of(EventClass::ALL)?,
                count: self.number()?,
            },
            _ => return None,
        };
        Some(Record::Runtime(Recorded { at, event }))
    }

    fn pinned(&mut self) -> Option<Pinned> {
        let (carrier, start) = (self.number()?, Timestamp(self.number()?));
        let span = Some(self.number()?).filter(|span| *span != 0);
        let (reason, operation) = (self.one_of(PinReason::ALL)?, self.one_of(Operation::ALL)?);
        let (outcome, source) = (self.one_of(WaitOutcome::ALL)?, self.one_of(PinSource::ALL)?);
        let (depth, stranded) = (self.small()?, self.small()?);
        Some(Pinned {
            carrier,
            start,
            span,
            reason,
            operation,
            outcome,
            source,
            depth,
            stranded,
            thread: self.thread()?,
            duration: self.span()?,
            stranded_time: self.span()?,
            pinned_at: self.place()?,
            blocked_at: self.place()?,
            lock: self.maybe()?,
            waits_for: self.maybe()?,
            waits_owner: self.maybe()?,
            native: self.maybe()?,
            stack: self.stack()?,
        })
    }

    fn compensation(&mut self) -> Option<Compensation> {
        Some(Compensation {
            live: self.number()?,
            max: self.number()?,
            reason: self.text()?,
            cause: self.text()?,
        })
    }

    fn program(&mut self, at: Timestamp) -> Option<ProgramRecord> {
        let (thread, span, parent) = (self.number()?, self.number()?, self.number()?);
        let duration = match self.number()? {
            0 => None,
            length => Some(Duration::from_nanos(length - 1)),
        };
        Some(ProgramRecord {
            at,
            duration,
            thread,
            span,
            parent,
            level: self.one_of(&LEVELS)?,
            thread_name: self.text()?,
            target: self.text()?,
            text: self.text()?,
            fields: self.text()?,
        })
    }
}

#[cfg(test)]
mod tests;
