//! A reader of everything the runtime records, with a cursor of its own.
//!
//! Readers never make a carrier wait: who is too slow is lapped, and told exactly how many records of
//! which class it missed.

use std::fmt;
use std::sync::Arc;
use std::thread::Thread;

use super::codec::read::Decoder;
use super::store::ring::Cursor;
use super::store::{Store, throttle};
use super::{EventClass, Recorded};

/// Follows a runtime's events from the rings themselves: each record once, in the order of each
/// carrier, independent of `tracing` and of every other reader.
///
/// A new reader begins with the oldest records still there. While one exists, parks, starts and ends
/// are recorded too. Meant for a plain OS thread of the reader's own.
///
/// Rings are overwritten, never waited for, so drain them often enough: now and then by the clock, and
/// when [`unpark_when_half_full`](Self::unpark_when_half_full) calls.
///
/// ```no_run
/// use std::time::Duration;
///
/// let mut reader = vt_runtime::Runtime::global().event_reader();
/// reader.unpark_when_half_full(std::thread::current());
/// loop {
///     reader.drain(|recorded| println!("{} at {:?}", recorded.event.name(), recorded.at));
///     std::thread::park_timeout(Duration::from_millis(100));
/// }
/// ```
pub struct Reader {
    follower: Follower,
    number: u64,
    wanted: [bool; EventClass::COUNT],
    throttle: Option<u32>,
    /// What the throttle had left out when this reader began to read each class, and what it did before that.
    left_out: [(u64, u64); EventClass::COUNT],
}

impl Reader {
    pub(super) fn new(store: Arc<Store>) -> Self {
        let number = store.add_reader();
        let wanted = [true; EventClass::COUNT];
        let mut this = Self {
            follower: Follower::from_oldest(store),
            number,
            wanted: [false; EventClass::COUNT],
            throttle: None,
            left_out: [(0, 0); EventClass::COUNT],
        };
        this.read_from_now_on(wanted);
        this
    }

    /// Reads these classes only, from now on; all of them before the first call. Parks, starts and ends that no reader
    /// and no subscriber wants are not even recorded.
    pub fn want(&mut self, classes: &[EventClass]) {
        let mut wanted = [false; EventClass::COUNT];
        for class in classes {
            wanted[*class as usize] = true;
        }
        self.read_from_now_on(wanted);
    }

    /// Is content with so many parks a second from now on, and with as many starts of virtual threads (whose ends then
    /// come too); `None`, as at first, asks for all. What carriers do not record is counted
    /// ([`throttled_in`](Self::throttled_in)), and so is never missed unseen. Where several read, the one that asks for
    /// most is served. Carriers may record what the time between two calls of [`drain`](Self::drain) allows, and
    /// one second's worth in a burst.
    pub fn throttle(&mut self, per_second: Option<u32>) {
        self.throttle = per_second;
        self.read_from_now_on(self.wanted);
    }

    fn read_from_now_on(&mut self, wanted: [bool; EventClass::COUNT]) {
        let store = &self.follower.store;
        let mut wish = [None; EventClass::COUNT];
        for class in EventClass::ALL {
            let at = *class as usize;
            let (from, before) = self.left_out[at];
            let now = store.left_out(*class);
            let more = if self.wanted[at] { now - from } else { 0 };
            self.left_out[at] = (now, before + more);
            let common = matches!(class, EventClass::Parks | EventClass::Lifetimes);
            let limit = self.throttle.filter(|_| common).unwrap_or(throttle::ALL);
            wish[at] = wanted[at].then_some(limit);
        }
        store.throttle(self.number, Some(wish));
        store.readers_want(self.wanted, wanted);
        self.wanted = wanted;
    }

    /// Hands every record that came since the last call to `take`.
    pub fn drain(&mut self, take: impl FnMut(Recorded)) {
        self.follower.store.refill();
        self.follower.drain(self.wanted, take);
    }

    /// Unparks `thread` whenever a carrier has filled another half of one of its rings: half of it is
    /// then still there to be read in peace. Replaces an earlier thread.
    pub fn unpark_when_half_full(&mut self, thread: Thread) {
        self.follower.store.unpark_when_pressed(self.number, thread);
    }

    /// How many records of each class were overwritten before this reader came to them, since it was
    /// made; in the order of [`EventClass::ALL`].
    #[must_use]
    pub fn lost(&self) -> [u64; EventClass::COUNT] {
        self.follower.lost
    }

    /// How many records of `class` were overwritten before this reader came to them.
    #[must_use]
    pub fn lost_in(&self, class: EventClass) -> u64 {
        self.follower.lost[class as usize]
    }

    /// How many records of `class` were not made since this reader reads it, because that was
    /// [enough](Self::throttle).
    #[must_use]
    pub fn throttled_in(&self, class: EventClass) -> u64 {
        let at = class as usize;
        let (from, before) = self.left_out[at];
        let now = self.follower.store.left_out(class);
        before + if self.wanted[at] { now - from } else { 0 }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let store = &self.follower.store;
        store.readers_want(self.wanted, [false; EventClass::COUNT]);
        store.remove_reader(self.number);
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("lost", &self.lost())
            .finish_non_exhaustive()
    }
}

/// The cursors of one reader over one store.
pub(super) struct Follower {
    store: Arc<Store>,
    lanes: Vec<[Cursor; EventClass::COUNT]>,
    journal: [u64; EventClass::COUNT],
    pub(super) lost: [u64; EventClass::COUNT],
    decoder: Decoder,
    body: Vec<u64>,
    copied: Vec<Recorded>,
}

impl Follower {
    /// One that has been there from the first record.
    pub(super) fn from_start(store: Arc<Store>) -> Self {
        Self {
            lanes: vec![[Cursor::FROM_START; EventClass::COUNT]; store.lanes.len()],
            journal: [0; EventClass::COUNT],
            lost: [0; EventClass::COUNT],
            decoder: Decoder::default(),
            body: Vec::new(),
            copied: Vec::new(),
            store,
        }
    }

    /// One that begins with what is still there.
    fn from_oldest(store: Arc<Store>) -> Self {
        let mut this = Self::from_start(store);
        for (lane, cursors) in this.store.lanes.iter().zip(&mut this.lanes) {
            for class in Store::classes() {
                if let Some(ring) = lane.written(class) {
                    cursors[class as usize] = ring.oldest();
                }
            }
        }
        let journal = this.store.journal.lock();
        this.journal = std::array::from_fn(|class| journal.first(EventClass::ALL[class]));
        drop(journal);
        this
    }

    /// Hands every new record of the wanted classes to `take`; forgets those of the others without
    /// counting them. No lock of the store is held while `take` runs.
    pub(super) fn drain(
        &mut self,
        wanted: [bool; EventClass::COUNT],
        mut take: impl FnMut(Recorded),
    ) {
        for (carrier, (lane, cursors)) in self.store.lanes.iter().zip(&mut self.lanes).enumerate() {
            for class in Store::classes() {
                let (cursor, lost) = (&mut cursors[class as usize], &mut self.lost[class as usize]);
                let Some(ring) = lane.written(class) else {
                    continue;
                };
                if !wanted[class as usize] {
                    ring.skip(cursor);
                    continue;
                }
                let until = ring.head();
                while let Some(header) = ring.read(cursor, until, &mut self.body, lost) {
                    match self.decoder.decode(
                        carrier as u64,
                        header,
                        &self.body,
                        self.store.names(),
                    ) {
                        Some(recorded) => take(recorded),
                        None => *lost += 1,
                    }
                }
            }
        }
        let journal = self.store.journal.lock();
        for class in Store::classes() {
            let at = &mut self.journal[class as usize];
            if wanted[class as usize] {
                let (next, lost) = journal.read(class, *at, &mut self.copied);
                *at = next;
                self.lost[class as usize] += lost;
            } else {
                *at = journal.end(class);
            }
        }
        drop(journal);
        self.copied.drain(..).for_each(take);
    }

    /// Whether a [`Follower::drain`] of the wanted classes would find something.
    pub(super) fn has_news(&self, wanted: [bool; EventClass::COUNT]) -> bool {
        let in_lane = |class: EventClass| {
            let index = class as usize;
            let mut lanes = self.store.lanes.iter().zip(&self.lanes);
            lanes.any(|(lane, cursors)| {
                lane.written(class)
                    .is_some_and(|ring| ring.has_news(&cursors[index]))
            })
        };
        let in_journal = |class: EventClass| {
            self.store.journal.lock().end(class) != self.journal[class as usize]
        };
        Store::classes()
            .any(|class| wanted[class as usize] && (in_lane(class) || in_journal(class)))
    }
}
