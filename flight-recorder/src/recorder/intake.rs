//! Where the program's own spans and events wait to be drained: bounded, and never a wait for whoever
//! records.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tracing::Level;

use crate::store::ProgramRecord;

/// Threads are spread over these, so that carriers seldom meet.
const SHARDS: usize = 16;
/// Records that wait in each at most.
const ROOM: usize = 2_048;

/// The intake.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    shards: [Mutex<Vec<ProgramRecord>>; SHARDS],
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
        // The drain holds a shard for as long as a swap of pointers takes.
        let mut shard = self.shards[shard].lock();
        if shard.len() < ROOM {
            shard.push(record);
        } else {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
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
