//! The binary form of what carriers record: one function writes each kind, one reads them all.
//!
//! ```text
//! header | at | thread.id | packed small fields | kind's own words | name bytes | stack
//! ```
//!
//! Names are copied in, so that they stay valid however long the record waits; statics go by number
//! ([`super::intern`]). Writing allocates nothing and takes no lock (except at the first sight of a
//! static). Reading is total: whatever a record holds, it gives an event or `None`, never a panic.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use self::intern::{Cache, Known};
use super::raw::{Lifetime, RawNative, RawPinned, Subject};
use super::store::ring::{Header, Record, Ring};
use super::{
    CarrierState, Event, Operation, PinReason, PinSource, Pinned, Place, Recorded, ThreadRef,
    Timestamp, WaitOutcome,
};

pub(super) mod intern;
mod place;

/// Longer thread names are cut.
const MAX_NAME: usize = 256;

/// Deeper stacks are cut: the innermost frames are what tells.
pub(super) const MAX_STACK: usize = 64;

/// The stored length of "no name given".
const UNNAMED: u64 = 0xffff;

/// Kinds of records, as stored in their headers.
mod kind {
    pub(super) const PINNED: u8 = 1;
    pub(super) const NATIVE: u8 = 2;
    pub(super) const START: u8 = 3;
    pub(super) const END: u8 = 4;
    pub(super) const PARK: u8 = 5;
    pub(super) const UNPARK: u8 = 6;
}

/// Words of a pinned record besides name and stack.
const PINNED_WORDS: usize = 14;

/// Writes a pinned wait.
pub(super) fn write_pinned(ring: &Ring, cache: &Cache, raw: &RawPinned<'_>) {
    let name = Name::new(raw.name);
    let stack = &raw.stack[..raw.stack.len().min(MAX_STACK)];
    let subject = |subject: Option<Subject>| {
        subject.map_or((0, 0), |s| {
            (pair(cache.text(Some(s.kind)), cache.text(s.name)), s.id)
        })
    };
    let (lock, lock_id) = subject(raw.lock);
    let (waits_for, waits_id) = subject(raw.waits_for);
    let places = pair(cache.place(raw.pinned_at), cache.place(raw.blocked_at));
    let native = pair(cache.text(raw.native), raw.depth);

    let mut record = ring.begin(kind::PINNED, PINNED_WORDS + name.words() + stack.len());
    record.put(raw.end.0);
    record.put(raw.thread);
    record.put(
        name.len()
            | bytes([
                raw.reason as u8,
                raw.operation as u8,
                raw.outcome as u8,
                raw.source as u8,
            ]) << 16,
    );
    record.put(raw.start.0);
    record.put(places);
    record.put(lock);
    record.put(lock_id);
    record.put(waits_for);
    record.put(waits_id);
    record.put(raw.waits_owner);
    record.put(native);
    record.put(
        u64::from(raw.stranded) << 32 | (stack.len() as u64) << 1 | u64::from(raw.span.is_some()),
    );
    record.put(raw.stranded_ns);
    record.put(raw.span.unwrap_or(0));
    name.put(&mut record);
    for &address in stack {
        record.put(address);
    }
    record.commit();
}

/// Writes a declared foreign call.
pub(super) fn write_native(ring: &Ring, cache: &Cache, raw: &RawNative<'_>) {
    let name = Name::new(raw.name);
    let native = cache.text(Some(raw.native));
    let mut record = ring.begin(kind::NATIVE, 4 + name.words());
    record.put(raw.end.0);
    record.put(raw.thread);
    record.put(name.len() | u64::from(raw.state as u8) << 16 | u64::from(native) << 32);
    record.put(raw.wall_ns);
    name.put(&mut record);
    record.commit();
}

/// Writes the start or end of a virtual thread.
pub(super) fn write_lifetime(
    ring: &Ring,
    which: Lifetime,
    at: Timestamp,
    thread: u64,
    name: Option<&str>,
) {
    let name = Name::new(name);
    let kind = match which {
        Lifetime::Start => kind::START,
        Lifetime::End => kind::END,
    };
    let mut record = ring.begin(kind, 3 + name.words());
    record.put(at.0);
    record.put(thread);
    record.put(name.len());
    name.put(&mut record);
    record.commit();
}

/// Writes a park (`away` is `None`) or the unpark that ended it.
pub(super) fn write_park(
    ring: &Ring,
    at: Timestamp,
    thread: u64,
    name: Option<&str>,
    operation: Operation,
    away: Option<u64>,
) {
    let name = Name::new(name);
    let kind = if away.is_some() {
        kind::UNPARK
    } else {
        kind::PARK
    };
    let mut record = ring.begin(kind, 4 + name.words());
    record.put(at.0);
    record.put(thread);
    record.put(name.len() | u64::from(operation as u8) << 16);
    record.put(away.unwrap_or(0));
    name.put(&mut record);
    record.commit();
}

/// A thread's name on its way into a record.
struct Name<'a>(Option<&'a str>);

impl<'a> Name<'a> {
    fn new(name: Option<&'a str>) -> Self {
        Self(name.map(|name| &name[..name.floor_char_boundary(MAX_NAME)]))
    }

    fn len(&self) -> u64 {
        self.0.map_or(UNNAMED, |name| name.len() as u64)
    }

    fn words(&self) -> usize {
        self.0.map_or(0, |name| name.len().div_ceil(8))
    }

    fn put(&self, record: &mut Record<'_>) {
        for chunk in self.0.unwrap_or_default().as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            record.put(u64::from_le_bytes(word));
        }
    }
}

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn bytes(bytes: [u8; 4]) -> u64 {
    u64::from(u32::from_le_bytes(bytes))
}

/// Finds the name of a virtual thread by its id, for texts that mention others (`#7 name`).
pub(crate) type ThreadNames = dyn Fn(u64) -> Option<Arc<str>> + Send + Sync;

/// Turns records into events; keeps what it has learned of statics.
#[derive(Default)]
pub(super) struct Decoder {
    known: Known,
}

impl Decoder {
    /// The event in a record of `carrier`, `None` if it makes no sense.
    pub(super) fn decode(
        &mut self,
        carrier: u64,
        header: Header,
        body: &[u64],
        names: Option<&ThreadNames>,
    ) -> Option<Recorded> {
        let mut body = Body(body);
        let at = Timestamp(body.word());
        let id = body.word();
        let small = body.word();
        let event = match header.kind() {
            kind::PINNED => {
                Event::VirtualThreadPinned(self.pinned(carrier, at, id, small, &mut body, names)?)
            }
            kind::NATIVE => {
                let wall = Duration::from_nanos(body.word());
                Event::NativeCall {
                    thread: body.thread(id, small),
                    carrier,
                    native: self.known.text((small >> 32) as u32)?.into(),
                    wall,
                    state: CarrierState::from_code(small >> 16 & 0xff)?,
                }
            }
            kind::START => Event::VirtualThreadStart {
                thread: body.thread(id, small),
                carrier,
            },
            kind::END => Event::VirtualThreadEnd {
                thread: body.thread(id, small),
                carrier,
            },
            which @ (kind::PARK | kind::UNPARK) => {
                let operation = Operation::from_code(small >> 16 & 0xff)?;
                let parked = Duration::from_nanos(body.word());
                let thread = body.thread(id, small);
                if which == kind::PARK {
                    Event::VirtualThreadPark { thread, operation }
                } else {
                    Event::VirtualThreadUnpark {
                        thread,
                        operation,
                        parked,
                    }
                }
            }
            _ => return None,
        };
        Some(Recorded { at, event })
    }

    fn pinned(
        &mut self,
        carrier: u64,
        at: Timestamp,
        id: u64,
        small: u64,
        body: &mut Body<'_>,
        names: Option<&ThreadNames>,
    ) -> Option<Pinned> {
        let [_, _, reason, operation, outcome, source, _, _] = small.to_le_bytes().map(u64::from);
        let start = Timestamp(body.word());
        let places = body.word();
        let lock = self.subject(body.word(), body.word(), names);
        let waits_for = self.subject(body.word(), body.word(), names);
        let waits_owner = body.word();
        let native = body.word();
        let counts = body.word();
        let stranded_time = Duration::from_nanos(body.word());
        let span = body.word();
        Some(Pinned {
            thread: body.thread(id, small),
            carrier,
            span: (counts & 1 != 0).then_some(span),
            reason: PinReason::from_code(reason)?,
            operation: Operation::from_code(operation)?,
            start,
            duration: at.since(start),
            pinned_at: self.known.place((places >> 32) as u32).map(Place::from),
            blocked_at: self
                .known
                .place(places as u32)
                .filter(|p| place::is_application(p))
                .map(Place::from),
            lock,
            waits_for,
            waits_owner: (waits_owner != 0).then(|| thread_text(waits_owner, names)),
            native: self.known.text((native >> 32) as u32).map(Arc::from),
            depth: native as u32,
            stranded: (counts >> 32) as u32,
            stranded_time,
            outcome: WaitOutcome::from_code(outcome)?,
            source: PinSource::from_code(source)?,
            stack: body.rest((counts as u32 >> 1) as usize),
        })
    }

    fn subject(&mut self, codes: u64, id: u64, names: Option<&ThreadNames>) -> Option<Arc<str>> {
        let kind = self.known.text((codes >> 32) as u32)?;
        let name = self.known.text(codes as u32);
        Some(subject_text(Subject { kind, name, id }, names))
    }
}

/// How a subject is written: its name, else `#7 name` for a thread, else `Kind@0x7f12..`.
pub(super) fn subject_text(subject: Subject, names: Option<&ThreadNames>) -> Arc<str> {
    match subject.name {
        None if subject.kind == Subject::THREAD => thread_text(subject.id, names),
        _ => subject.to_string().into(),
    }
}

/// How a thread is written in texts: `#7 name`, or `#7` when it is gone or nobody can tell.
pub(super) fn thread_text(id: u64, names: Option<&ThreadNames>) -> Arc<str> {
    match names.and_then(|names| names(id)) {
        Some(name) => format!("#{id} {name}").into(),
        None => format!("#{id}").into(),
    }
}

impl From<&'static Location<'static>> for Place {
    fn from(location: &'static Location<'static>) -> Self {
        Self {
            file: location.file().into(),
            line: location.line(),
            column: location.column(),
        }
    }
}

impl RawPinned<'_> {
    /// The same as an event, for those that report from off the carriers.
    pub(crate) fn to_pinned(self, carrier: u64, names: Option<&ThreadNames>) -> Pinned {
        Pinned {
            thread: ThreadRef {
                id: self.thread,
                name: thread_name(self.thread, self.name),
            },
            carrier,
            span: self.span,
            reason: self.reason,
            operation: self.operation,
            start: self.start,
            duration: self.end.since(self.start),
            pinned_at: self.pinned_at.map(Place::from),
            blocked_at: self
                .blocked_at
                .filter(|p| place::is_application(p))
                .map(Place::from),
            lock: self.lock.map(|lock| subject_text(lock, names)),
            waits_for: self.waits_for.map(|subject| subject_text(subject, names)),
            waits_owner: (self.waits_owner != 0).then(|| thread_text(self.waits_owner, names)),
            native: self.native.map(Arc::from),
            depth: self.depth,
            stranded: self.stranded,
            stranded_time: Duration::from_nanos(self.stranded_ns),
            outcome: self.outcome,
            source: self.source,
            stack: self.stack[..self.stack.len().min(MAX_STACK)].to_vec(),
        }
    }
}

fn thread_name(id: u64, given: Option<&str>) -> Arc<str> {
    given.map_or_else(|| format!("vt-{id}").into(), Arc::from)
}

/// A record's body, read word by word; past its end everything is 0.
struct Body<'a>(&'a [u64]);

impl Body<'_> {
    fn word(&mut self) -> u64 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    /// The thread whose name lies here.
    fn thread(&mut self, id: u64, small: u64) -> ThreadRef {
        let len = small & 0xffff;
        if len == UNNAMED {
            return ThreadRef {
                id,
                name: thread_name(id, None),
            };
        }
        let len = len as usize;
        let bytes: Vec<u8> = (0..len.div_ceil(8))
            .flat_map(|_| self.word().to_le_bytes())
            .take(len)
            .collect();
        ThreadRef {
            id,
            name: String::from_utf8_lossy(&bytes).into(),
        }
    }

    fn rest(&mut self, len: usize) -> Vec<u64> {
        self.0
            .split_off(..len.min(self.0.len()))
            .unwrap_or_default()
            .to_vec()
    }
}

#[cfg(test)]
mod tests;
