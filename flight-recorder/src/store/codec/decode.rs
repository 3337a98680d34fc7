//! From bytes to records.

use std::sync::Arc;
use std::time::Duration;

use vt_runtime::event::{
    CarrierState, Compensation, Deadlock, DeadlockKind, Event, EventClass, Operation, PinReason,
    PinSource, Pinned, Place, Recorded, Stalled, ThreadRef, Timestamp, WaitOutcome,
};

use super::{LEVELS, tag};
use crate::format::unnamed;
use crate::read::Cursor;
use crate::store::segment::Tables;
use crate::store::{ProgramRecord, Record};

/// Reads a segment's records.
pub(in crate::store) struct Decoder<'a> {
    cursor: Cursor<'a>,
    tables: &'a Tables,
}

impl<'a> Decoder<'a> {
    pub(in crate::store) fn new(bytes: &'a [u8], tables: &'a Tables) -> Self {
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
        let id = self.number()?;
        let name = self.name(id)?;
        Some(ThreadRef { id, name })
    }

    fn name(&mut self, id: u64) -> Option<Arc<str>> {
        let given = self.maybe()?;
        Some(given.unwrap_or_else(|| unnamed(id).into()))
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
    pub(in crate::store) fn record(&mut self) -> Option<Record> {
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
            thread_name: self.name(thread)?,
            target: self.text()?,
            text: self.text()?,
            fields: self.text()?,
        })
    }
}
