//! Every virtual thread that is queued or started and has not ended.
//!
//! Split into shards, so that carriers do not meet, and so that a dump of a million threads never holds one lock
//! for long.

use std::sync::Arc;

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use crate::park::Record;

const SHARDS: usize = 16;

#[derive(Default)]
struct Shard {
    records: Vec<Option<Arc<Record>>>,
    vacant: Vec<usize>,
}

/// See the module's documentation.
pub(crate) struct Registry {
    shards: Box<[CachePadded<Mutex<Shard>>]>,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self {
            shards: (0..SHARDS)
                .map(|_| CachePadded::new(Mutex::default()))
                .collect(),
        }
    }

    pub(crate) fn insert(&self, record: &Arc<Record>) {
        let Some(part) = record.as_virtual() else {
            return;
        };
        let index = shard_of(record.id);
        let mut shard = self.shards[index].lock();
        let place = match shard.vacant.pop() {
            Some(place) => {
                shard.records[place] = Some(Arc::clone(record));
                place
            }
            None => {
                shard.records.push(Some(Arc::clone(record)));
                shard.records.len() - 1
            }
        };
        // A record is inserted once, by its spawn.
        let _ = part.registered.set((index, place));
    }

    pub(crate) fn remove(&self, record: &Record) {
        let Some(&(index, place)) = record.as_virtual().and_then(|part| part.registered.get())
        else {
            return;
        };
        let mut shard = self.shards[index].lock();
        if shard.records[place].take().is_some() {
            shard.vacant.push(place);
        }
    }

    /// A live thread. Off the carriers: it looks through a whole shard.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<Record>> {
        let shard = self.shards[shard_of(id)].lock();
        shard
            .records
            .iter()
            .flatten()
            .find(|record| record.id == id)
            .cloned()
    }

    /// All of them, ordered by id.
    pub(crate) fn snapshot(&self) -> Vec<Arc<Record>> {
        let mut all = Vec::new();
        for shard in &self.shards {
            all.extend(shard.lock().records.iter().flatten().cloned());
        }
        all.sort_unstable_by_key(|record| record.id);
        all
    }
}

fn shard_of(id: u64) -> usize {
    (id % SHARDS as u64) as usize
}
