//! Every virtual thread that is queued or started and has not ended.
//!
//! Split into shards, so that carriers do not meet. Who reads all of it takes a shard's lock for [`PORTION`] places at
//! a time: a dump of a million threads never stops a carrier for more than some microseconds.

use std::ops::ControlFlow;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use crate::park::Record;
use crate::primitive::Ordering;

const SHARDS: usize = 16;
/// Places read under one lock.
const PORTION: usize = 256;

#[derive(Default)]
struct Shard {
    records: Vec<Option<Arc<Record>>>,
    vacant: Vec<u32>,
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
        let mut shard = self.shards[shard_of(record.id)].lock();
        let place = match shard.vacant.pop() {
            Some(place) => {
                shard.records[place as usize] = Some(Arc::clone(record));
                place
            }
            None => {
                shard.records.push(Some(Arc::clone(record)));
                u32::try_from(shard.records.len() - 1).expect("stacks for fewer threads")
            }
        };
        part.registered.store(place, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, record: &Record) {
        let Some(part) = record.as_virtual() else {
            return;
        };
        // Stored by the spawn, which the thread's start comes after.
        let place = part.registered.load(Ordering::Relaxed);
        let mut shard = self.shards[shard_of(record.id)].lock();
        let removed = shard.records.get_mut(place as usize).and_then(Option::take);
        if removed.is_some() {
            shard.vacant.push(place);
        }
        drop(shard);
        drop(removed);
    }

    /// A live thread. Off the carriers: it looks through a whole shard.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<Record>> {
        let mut found = None;
        self.read(shard_of(id), &mut |record| {
            if record.id != id {
                return ControlFlow::Continue(());
            }
            found = Some(Arc::clone(record));
            ControlFlow::Break(())
        });
        found
    }

    /// All that were there all the time, and some of those that came or went meanwhile, ordered by id.
    pub(crate) fn snapshot(&self) -> Vec<Arc<Record>> {
        let mut all = Vec::new();
        for shard in 0..SHARDS {
            self.read(shard, &mut |record| {
                all.push(Arc::clone(record));
                ControlFlow::Continue(())
            });
        }
        all.sort_unstable_by_key(|record| record.id);
        all
    }

    /// A thread keeps its place, so one that is there all the time is seen whatever happens between two portions.
    fn read(&self, shard: usize, visit: &mut dyn FnMut(&Arc<Record>) -> ControlFlow<()>) {
        let mut from = 0;
        loop {
            let shard = self.shards[shard].lock();
            let Some(rest) = shard.records.get(from..).filter(|rest| !rest.is_empty()) else {
                return;
            };
            let portion = &rest[..rest.len().min(PORTION)];
            if portion
                .iter()
                .flatten()
                .try_for_each(&mut *visit)
                .is_break()
            {
                return;
            }
            from += PORTION;
        }
    }
}

fn shard_of(id: u64) -> usize {
    (id % SHARDS as u64) as usize
}
