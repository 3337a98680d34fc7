//! Every virtual thread that is queued or started and has not ended.
//!
//! Split into shards, so that carriers do not meet. Who reads all of it takes a shard's lock for [`PORTION`] places at
//! a time.
//!
//! ```text
//!   carrier that adds:     lock free? -> add : next shard                      (a reader has one shard at a time)
//!   carrier that removes:  lock free? -> remove : leaving += place, then again and again:
//!                            fence ; readers? -> done, it is left to them ; lock free? -> remove all of leaving, done
//!   reader:                readers += 1 ; lock, remove all of leaving, read, unlock ; readers -= 1 ; fence ;
//!                            leaving? -> again
//! ```
//!
//! **Invariant (no carrier waits for a reader):** a reader may lose its core while it has a shard's lock, for as long as
//! the system likes. A carrier that adds passes on to another shard, and one that removes leaves word.
//!
//! **Invariant (nothing stays):** a removal that is left to readers is done by one of them. It is put down before a
//! sequentially consistent fence and the look at `readers`; a reader takes itself out before such a fence and its
//! look at what is left. So one of the two sees the other.

use std::ops::ControlFlow;
use std::sync::Arc;

use crossbeam_deque::{Injector, Steal};
use crossbeam_utils::CachePadded;

use crate::park::Record;
use crate::primitive::{AtomicUsize, Mutex, Ordering, fence, yield_now};

const SHARDS: usize = 16;
/// The number of a thread that is not registered.
pub(crate) const NOWHERE: u32 = u32::MAX;
/// Places read under one lock.
const PORTION: usize = 256;

/// See the module's documentation.
pub(crate) struct Registry {
    shards: Box<[CachePadded<Shard<Arc<Record>>>]>,
    /// Threads that are not in the shard of their number.
    strays: AtomicUsize,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self {
            shards: (0..SHARDS)
                .map(|_| CachePadded::new(Shard::new()))
                .collect(),
            strays: AtomicUsize::new(0),
        }
    }

    pub(crate) fn insert(&self, record: &Arc<Record>) {
        let Some(part) = record.as_virtual() else {
            return;
        };
        let own = shard_of(record.id);
        let free = (own..).find_map(|at| {
            let at = at % SHARDS;
            Some((at, self.shards[at].try_add(record)?))
        });
        let Some((at, place)) = free else {
            unreachable!("it tries until one is free")
        };
        if at != own {
            self.strays.fetch_add(1, Ordering::Relaxed);
        }
        let number = place as usize * SHARDS + at;
        let number = u32::try_from(number).expect("stacks for fewer threads");
        part.registered.store(number, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, record: &Record) {
        let Some(part) = record.as_virtual() else {
            return;
        };
        // Stored by the spawn, which the thread's start comes after.
        let number = part.registered.load(Ordering::Relaxed) as usize;
        part.registered.store(NOWHERE, Ordering::Relaxed);
        let at = number % SHARDS;
        if at != shard_of(record.id) {
            self.strays.fetch_sub(1, Ordering::Relaxed);
        }
        self.shards[at].remove((number / SHARDS) as u32);
    }

    /// A live thread. Off the carriers: it looks through a whole shard.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<Record>> {
        let own = shard_of(id);
        let others = if self.strays.load(Ordering::Relaxed) == 0 {
            0
        } else {
            SHARDS - 1
        };
        (0..=others).find_map(|step| {
            let mut found = None;
            self.shards[(own + step) % SHARDS].read(&mut |record| {
                if record.id != id {
                    return ControlFlow::Continue(());
                }
                found = Some(Arc::clone(record));
                ControlFlow::Break(())
            });
            found
        })
    }

    /// All that were there all the time, and some of those that came or went meanwhile, ordered by id.
    pub(crate) fn snapshot(&self) -> Vec<Arc<Record>> {
        let mut all = Vec::new();
        self.each(|record| all.push(Arc::clone(record)));
        all.sort_unstable_by_key(|record| record.id);
        all
    }

    /// [`snapshot`](Self::snapshot) in no order.
    pub(crate) fn each(&self, mut visit: impl FnMut(&Arc<Record>)) {
        for shard in &self.shards {
            shard.read(&mut |record| {
                // Its removal may have been left to a reader.
                let part = record.as_virtual();
                if part.is_some_and(|part| part.registered.load(Ordering::Relaxed) != NOWHERE) {
                    visit(record);
                }
                ControlFlow::Continue(())
            });
        }
    }
}

fn shard_of(id: u64) -> usize {
    (id % SHARDS as u64) as usize
}

/// A part of the registry.
struct Shard<T> {
    table: Mutex<Table<T>>,
    readers: AtomicUsize,
    /// Places to be removed.
    leaving: Injector<u32>,
}

struct Table<T> {
    things: Vec<Option<T>>,
    vacant: Vec<u32>,
}

impl<T> Table<T> {
    fn add(&mut self, thing: T) -> u32 {
        match self.vacant.pop() {
            Some(place) => {
                self.things[place as usize] = Some(thing);
                place
            }
            None => {
                self.things.push(Some(thing));
                u32::try_from(self.things.len() - 1).expect("stacks for fewer threads")
            }
        }
    }

    #[must_use = "dropped without the lock"]
    fn take(&mut self, place: u32) -> Option<T> {
        let taken = self.things.get_mut(place as usize).and_then(Option::take);
        if taken.is_some() {
            self.vacant.push(place);
        }
        taken
    }

    #[must_use = "dropped without the lock"]
    fn take_all(&mut self, leaving: &Injector<u32>) -> Vec<T> {
        let mut taken = Vec::new();
        loop {
            match leaving.steal() {
                Steal::Success(place) => taken.extend(self.take(place)),
                Steal::Retry => {}
                Steal::Empty => return taken,
            }
        }
    }
}

impl<T: Clone> Shard<T> {
    fn new() -> Self {
        Self {
            table: Mutex::new(Table {
                things: Vec::new(),
                vacant: Vec::new(),
            }),
            readers: AtomicUsize::new(0),
            leaving: Injector::new(),
        }
    }

    /// `None` while somebody has the lock.
    fn try_add(&self, thing: &T) -> Option<u32> {
        let mut table = self.table.try_lock()?;
        Some(table.add(thing.clone()))
    }

    fn remove(&self, place: u32) {
        if let Some(mut table) = self.table.try_lock() {
            let taken = table.take(place);
            drop(table);
            drop(taken);
            return;
        }
        self.leaving.push(place);
        loop {
            fence(Ordering::SeqCst);
            if self.readers.load(Ordering::Relaxed) != 0 {
                return;
            }
            if let Some(mut table) = self.table.try_lock() {
                let taken = table.take_all(&self.leaving);
                drop(table);
                drop(taken);
                return;
            }
            // Another carrier has the lock, for a few instructions.
            yield_now();
        }
    }

    /// A thing keeps its place, so one that is there all the time is seen whatever happens between two portions.
    fn read(&self, visit: &mut dyn FnMut(&T) -> ControlFlow<()>) {
        let mut from = 0;
        let mut more = true;
        while more || !self.leaving.is_empty() {
            change(&self.readers, |readers| readers + 1);
            let mut table = self.table.lock();
            let taken = table.take_all(&self.leaving);
            if more {
                let rest = table.things.get(from..).unwrap_or_default();
                let portion = &rest[..rest.len().min(PORTION)];
                let visited = portion.iter().flatten().try_for_each(&mut *visit);
                more = visited.is_continue() && rest.len() > PORTION;
                from += PORTION;
            }
            drop(table);
            change(&self.readers, |readers| readers - 1);
            fence(Ordering::SeqCst);
            drop(taken);
        }
    }
}

/// By compare-exchange: see "What loom is not asked" in `docs/decisions.md`.
fn change(count: &AtomicUsize, to: impl Fn(usize) -> usize) {
    let changed = count.fetch_update(Ordering::SeqCst, Ordering::Relaxed, |count| Some(to(count)));
    debug_assert!(changed.is_ok(), "it always gives a next count");
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_carrier_does_not_wait_for_a_reader_that_has_lost_its_core() {
        let shards = [Shard::new(), Shard::new()];
        let place = shards[0].try_add(&1).expect("nobody has the lock");
        shards[0].try_add(&2).expect("nobody has the lock");
        let mut seen = Vec::new();
        // What follows happens on this thread while it reads, and so would hang if it waited for the reader.
        shards[0].read(&mut |thing| {
            if seen.is_empty() {
                assert_eq!(shards[0].try_add(&3), None);
                assert!(shards[1].try_add(&3).is_some());
                shards[0].remove(place);
            }
            seen.push(*thing);
            ControlFlow::Continue(())
        });
        assert_eq!(seen, [1, 2]);
        assert_eq!(
            shards[0].try_add(&4),
            Some(place),
            "it was removed after all"
        );
    }
}

#[cfg(all(test, loom))]
mod loom {
    //! Two who leave beside a reader: whoever it is left to, both are gone when all are through.

    use ::loom::thread;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn nothing_is_left_in_the_registry() {
        let mut model = ::loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let shard = Arc::new(Shard::new());
            let places = [1, 2].map(|thing| shard.try_add(&thing).expect("nobody has the lock"));
            let leaver = {
                let shard = Arc::clone(&shard);
                thread::spawn(move || shard.remove(places[0]))
            };
            let reader = {
                let shard = Arc::clone(&shard);
                thread::spawn(move || shard.read(&mut |_| ControlFlow::Continue(())))
            };
            shard.remove(places[1]);
            leaver.join().expect("it ends");
            reader.join().expect("it ends");
            let left = shard.table.lock().things.iter().flatten().count();
            assert_eq!(left, 0);
        });
    }
}
