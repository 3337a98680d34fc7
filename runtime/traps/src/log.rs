//! What was trapped: a fixed number of entries that are written once, without a lock, so that a signal handler may.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

/// Calls kept in the life of a process.
const ENTRIES: usize = 4096;

/// Frames kept of each.
const FRAMES: usize = 32;

/// One call that blocked.
pub(crate) struct Entry {
    pub(crate) call: &'static str,
    pub(crate) descriptor: i32,
    pub(crate) nanos: u64,
    pub(crate) thread: u64,
    pub(crate) stack: Vec<u64>,
}

struct Slot {
    /// Written last.
    is_written: AtomicBool,
    call: AtomicUsize,
    descriptor: AtomicI32,
    nanos: AtomicU64,
    thread: AtomicU64,
    frames: AtomicUsize,
    stack: [AtomicU64; FRAMES],
}

static SLOTS: [Slot; ENTRIES] = [const {
    Slot {
        is_written: AtomicBool::new(false),
        call: AtomicUsize::new(0),
        descriptor: AtomicI32::new(-1),
        nanos: AtomicU64::new(0),
        thread: AtomicU64::new(0),
        frames: AtomicUsize::new(0),
        stack: [const { AtomicU64::new(0) }; FRAMES],
    }
}; ENTRIES];

/// Entries claimed, those beyond the last slot included.
static CLAIMED: AtomicUsize = AtomicUsize::new(0);

/// A point in the order of entries.
pub(crate) struct Mark(usize);

/// Where the log ends now.
pub(crate) fn mark() -> Mark {
    Mark(CLAIMED.load(Ordering::SeqCst))
}

/// Adds a call of the calling virtual thread, named by its place in `NAMES`, with the stack it stands on.
pub(crate) fn add(call: usize, descriptor: i32, nanos: u64, thread: u64) {
    let Some(slot) = SLOTS.get(CLAIMED.fetch_add(1, Ordering::SeqCst)) else {
        return;
    };
    let mut stack = [0; FRAMES];
    let frames = vt_runtime::__private::walk(&mut stack);
    slot.call.store(call, Ordering::Relaxed);
    slot.descriptor.store(descriptor, Ordering::Relaxed);
    slot.nanos.store(nanos, Ordering::Relaxed);
    slot.thread.store(thread, Ordering::Relaxed);
    slot.frames.store(frames, Ordering::Relaxed);
    for (kept, address) in slot.stack.iter().zip(stack) {
        kept.store(address, Ordering::Relaxed);
    }
    slot.is_written.store(true, Ordering::Release);
}

/// The calls since `mark`, and how many found no slot.
pub(crate) fn read(mark: &Mark) -> (Vec<Entry>, u64) {
    let end = CLAIMED.load(Ordering::SeqCst);
    let slots = &SLOTS[mark.0.min(ENTRIES)..end.min(ENTRIES)];
    let written = slots
        .iter()
        .filter(|slot| slot.is_written.load(Ordering::Acquire));
    let entries = written.map(|slot| Entry {
        call: super::calls::NAMES[slot.call.load(Ordering::Relaxed)],
        descriptor: slot.descriptor.load(Ordering::Relaxed),
        nanos: slot.nanos.load(Ordering::Relaxed),
        thread: slot.thread.load(Ordering::Relaxed),
        stack: slot
            .stack
            .iter()
            .take(slot.frames.load(Ordering::Relaxed))
            .map(|address| address.load(Ordering::Relaxed))
            .collect(),
    });
    let lost = end.saturating_sub(mark.0.max(ENTRIES));
    (entries.collect(), lost as u64)
}
