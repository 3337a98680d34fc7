//! From what a carrier hands over to words in its ring.

use super::intern::Cache;
use super::{MAX_NAME, MAX_STACK, UNNAMED, kind};
use crate::event::raw::{Lifetime, RawNative, RawPinned, Subject};
use crate::event::store::ring::{Record, Ring};
use crate::event::{Operation, Timestamp};

/// Words of a pinned record besides name and stack.
const PINNED_WORDS: usize = 14;

/// A pinned wait. True, as for the others, if the ring has filled another half.
pub(in crate::event) fn pinned(ring: &Ring, cache: &Cache, raw: &RawPinned<'_>) -> bool {
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
    let codes = [
        raw.reason as u8,
        raw.operation as u8,
        raw.outcome as u8,
        raw.source as u8,
    ];
    let extent = (stack.len() as u64) << 1 | u64::from(raw.span.is_some());

    let mut record = ring.begin(kind::PINNED, PINNED_WORDS + name.words() + stack.len());
    record.put(raw.end.0);
    record.put(raw.thread);
    record.put(name.len() | u64::from(u32::from_le_bytes(codes)) << 16);
    record.put(raw.start.0);
    record.put(places);
    record.put(lock);
    record.put(lock_id);
    record.put(waits_for);
    record.put(waits_id);
    record.put(raw.waits_owner);
    record.put(native);
    record.put(u64::from(raw.stranded) << 32 | extent);
    record.put(raw.stranded_ns);
    record.put(raw.span.unwrap_or(0));
    name.put(&mut record);
    for &address in stack {
        record.put(address);
    }
    record.commit()
}

/// A declared foreign call.
pub(in crate::event) fn native(ring: &Ring, cache: &Cache, raw: &RawNative<'_>) -> bool {
    let name = Name::new(raw.name);
    let native = cache.text(Some(raw.native));
    let mut record = ring.begin(kind::NATIVE, 4 + name.words());
    record.put(raw.end.0);
    record.put(raw.thread);
    record.put(name.len() | u64::from(raw.state as u8) << 16 | u64::from(native) << 32);
    record.put(raw.wall_ns);
    name.put(&mut record);
    record.commit()
}

/// The start or end of a virtual thread.
pub(in crate::event) fn lifetime(
    ring: &Ring,
    which: Lifetime,
    at: Timestamp,
    thread: u64,
    name: Option<&str>,
) -> bool {
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
    record.commit()
}

/// A park (`away` is `None`) or the unpark that ended it.
pub(in crate::event) fn park(
    ring: &Ring,
    at: Timestamp,
    thread: u64,
    name: Option<&str>,
    operation: Operation,
    away: Option<u64>,
) -> bool {
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
    record.commit()
}

/// A thread's name on its way into a record.
struct Name<'a>(Option<&'a str>);

impl<'a> Name<'a> {
    fn new(name: Option<&'a str>) -> Self {
        Self(name.map(|name| &name[..name.floor_char_boundary(MAX_NAME)]))
    }

    /// As stored: [`UNNAMED`] for none.
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

/// Two numbers in one word.
pub(in crate::event) fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
