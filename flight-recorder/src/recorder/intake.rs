//! Where the program's own spans and events wait to be drained, and where spans that are open are known:
//! bounded, and never a wait for whoever records.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use foldhash::fast::RandomState;
use parking_lot::{Mutex, MutexGuard};
use tracing::Level;
use vt_runtime::event::Timestamp;

use crate::store::ProgramRecord;

/// Threads are spread over these, so that carriers seldom meet.
const SHARDS: usize = 16;
/// Records that wait in each at most.
const ROOM: usize = 2_048;

/// Open spans that each knows at most; spans beyond are counted as lost when they close.
const MAX_OPEN: usize = 8_192;

/// Spans that are open, by id: records without a length so far.
type Open = HashMap<u64, ProgramRecord, RandomState>;

/// The intake.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    shards: [Mutex<Vec<ProgramRecord>>; SHARDS],
    open: [Mutex<Open>; SHARDS],
    lost: AtomicU64,
    /// Levels below this number are kept: 1 for errors only, 5 for all, 0 for none.
    level: AtomicUsize,
}

/// A level's number: greater is chattier.
fn number(level: Level) -> usize {
    match level {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        Level::TRACE => 5,
    }
}

impl Intake {
    pub(crate) fn set_level(&self, level: Option<Level>) {
        self.level.store(level.map_or(0, number), Ordering::Relaxed);
    }

    pub(crate) fn wants(&self, level: Level) -> bool {
        number(level) <= self.level.load(Ordering::Relaxed)
    }

    /// Takes a record, or counts it as lost where there is no room.
    pub(crate) fn push(&self, record: ProgramRecord) {
        let shard = record.thread as usize % SHARDS;
        match briefly(&self.shards[shard]) {
            Some(mut shard) if shard.len() < ROOM => shard.push(record),
            _ => self.lose(),
        }
    }

    fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// A span begins.
    pub(crate) fn open(&self, span: ProgramRecord) {
        match briefly(&self.open[span.span as usize % SHARDS]) {
            Some(mut open) if open.len() < MAX_OPEN => _ = open.insert(span.span, span),
            _ => self.lose(),
        }
    }

    /// Changes an open span.
    pub(crate) fn change(&self, id: u64, change: impl FnOnce(&mut ProgramRecord)) {
        if let Some(mut open) = briefly(&self.open[id as usize % SHARDS])
            && let Some(span) = open.get_mut(&id)
        {
            change(span);
        }
    }

    /// A span ends.
    pub(crate) fn close(&self, id: u64, now: Timestamp) {
        let span = match briefly(&self.open[id as usize % SHARDS]) {
            Some(mut open) => open.remove(&id),
            None => return self.lose(),
        };
        // None: it began before the settings wanted it, or found no room and was counted then.
        if let Some(span) = span {
            self.push(lasting(span, now));
        }
    }

    /// The spans that are open, with their length so far.
    pub(crate) fn open_spans(&self, now: Timestamp) -> Vec<ProgramRecord> {
        let mut spans = Vec::new();
        for shard in &self.open {
            spans.extend(shard.lock().values().map(|span| lasting(span.clone(), now)));
        }
        spans.sort_by_key(|span| (span.at, span.span));
        spans
    }

    /// Hands every waiting record to `take`.
    pub(crate) fn drain(&self, mut take: impl FnMut(ProgramRecord)) {
        for shard in &self.shards {
            let waiting = std::mem::take(&mut *shard.lock());
            waiting.into_iter().for_each(&mut take);
        }
    }

    /// Records that found no room.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// Looks this often for a lock to be free before what it is for counts as lost.
const TRIES: u32 = 2_000;

/// A lock that others hold for as long as a push takes. In a forked child one may be held for ever, by a
/// thread that is not there.
fn briefly<T>(lock: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..TRIES {
        if let Some(guard) = lock.try_lock() {
            return Some(guard);
        }
        std::hint::spin_loop();
    }
    None
}

fn lasting(span: ProgramRecord, now: Timestamp) -> ProgramRecord {
    ProgramRecord {
        duration: Some(Duration::from_nanos(now.0.saturating_sub(span.at.0))),
        ..span
    }
}
