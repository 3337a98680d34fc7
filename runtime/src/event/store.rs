//! Everything recorded and not yet overwritten: the carriers' lanes and the journal.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::Thread;

use parking_lot::{Mutex, RwLock};

use self::journal::Journal;
use self::lane::Lane;
use self::sites::Undeclared;
use self::throttle::Throttle;
use super::codec::text::ThreadNames;
use super::service::interest;
use super::{Event, EventClass, Recorded, Timestamp, clock};

pub(super) mod lane;

pub(super) mod ring;

pub(super) mod sites;

pub(super) mod histograms;

pub(super) mod throttle;

mod journal;

/// The store of one runtime.
pub(super) struct Store {
    pub(super) lanes: Box<[Lane]>,
    pub(super) journal: Mutex<Journal>,
    /// What undeclared blocking cost.
    pub(super) undeclared: Mutex<Undeclared>,
    /// How to find the names of threads that texts mention.
    pub(super) names: OnceLock<Box<ThreadNames>>,
    /// Readers besides `vt-events` that want each class.
    readers: [AtomicU32; EventClass::COUNT],
    /// How many records of each class a second are enough for them.
    throttle: Mutex<Throttle>,
    /// Threads to unpark when a ring has filled another half, by the number of their reader.
    pressed: RwLock<Vec<(u64, Thread)>>,
    next_reader: AtomicU64,
    capacity: usize,
}

impl Store {
    pub(super) fn new(lanes: usize, capacity: usize) -> Self {
        Self {
            lanes: (0..lanes).map(|_| Lane::default()).collect(),
            journal: Mutex::new(Journal::new(capacity)),
            undeclared: Mutex::default(),
            names: OnceLock::new(),
            readers: std::array::from_fn(|_| AtomicU32::new(0)),
            throttle: Mutex::default(),
            pressed: RwLock::default(),
            next_reader: AtomicU64::new(0),
            capacity,
        }
    }

    /// Pins that each ring is to keep.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether a reader wants what only those who ask are told.
    pub(super) fn has_readers(&self, class: EventClass) -> bool {
        self.readers[class as usize].load(Ordering::Relaxed) != 0
    }

    /// A reader wants other classes than before.
    pub(super) fn readers_want(
        &self,
        before: [bool; EventClass::COUNT],
        now: [bool; EventClass::COUNT],
    ) {
        for ((readers, before), now) in self.readers.iter().zip(before).zip(now) {
            match (before, now) {
                (false, true) => _ = readers.fetch_add(1, Ordering::Relaxed),
                (true, false) => _ = readers.fetch_sub(1, Ordering::Relaxed),
                _ => {}
            }
        }
    }

    /// The number of a new reader.
    pub(super) fn add_reader(&self) -> u64 {
        self.next_reader.fetch_add(1, Ordering::Relaxed)
    }

    /// Of each class it reads, a reader is content with so many records a second; `None` when it is gone.
    pub(super) fn throttle(&self, reader: u64, wish: Option<[Option<u32>; EventClass::COUNT]>) {
        self.throttle.lock().wish(reader, wish, &self.lanes);
    }

    /// Lets carriers record what the time that has passed allows.
    pub(super) fn refill(&self) {
        self.throttle.lock().refill(clock::now(), &self.lanes);
    }

    /// Records of each class that were not made for the throttle's sake.
    pub(super) fn left_out(&self, class: EventClass) -> u64 {
        self.lanes
            .iter()
            .map(|lane| lane.budget(class).left_out())
            .sum()
    }

    pub(super) fn remove_reader(&self, number: u64) {
        self.throttle(number, None);
        self.pressed.write().retain(|(reader, _)| *reader != number);
    }

    /// From now on unparks `thread` when a ring has filled another half.
    pub(super) fn unpark_when_pressed(&self, reader: u64, thread: Thread) {
        let mut pressed = self.pressed.write();
        pressed.retain(|(other, _)| *other != reader);
        pressed.push((reader, thread));
    }

    /// A ring has filled another half.
    #[cold]
    pub(super) fn press(&self) {
        for (_, thread) in &*self.pressed.read() {
            thread.unpark();
        }
    }

    /// Records an event from off the carriers, if anybody wants its class.
    pub(super) fn report(&self, at: Timestamp, event: Event) {
        if self.has_readers(event.class()) || interest::in_class(event.class()) {
            self.journal.lock().push(Recorded { at, event });
        }
    }

    pub(super) fn names(&self) -> Option<&ThreadNames> {
        self.names.get().map(|names| &**names)
    }

    /// The classes in the order they are read: what is worth most first.
    pub(super) fn classes() -> impl Iterator<Item = EventClass> {
        EventClass::ALL.iter().copied()
    }
}
