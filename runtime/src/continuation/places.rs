//! Places: the right of one thread to a stack, and the idle ones each OS thread has at hand.
//!
//! ```text
//!            ┌─ shelf of OS thread 0: stacks, places without a stack ─┐
//!   reserve ─┤                                                        ├─ a handful at a time ─ unclaimed
//!            └─ shelf of OS thread 1                                  ┘                         + store
//! ```
//!
//! Admission and stack are one thing in the common case: whoever takes an idle stack from a shelf has
//! been admitted, because the shelf's place came with it. So a spawn and the end of a thread each cost
//! one uncontended lock, no shared counter, no allocation and no system call. A shelf is last in, first
//! out: its stacks' pages are still in the cache.
//!
//! **Invariant (counted):** unclaimed places, places on shelves, and places that are out always add up to
//! the cap (a place that is being moved by [`Places::claim`] or an unload counts as out meanwhile).
//! Leaked places are out for ever: their memory is still in use.
//!
//! **Invariant (kept mapped):** slabs are unmapped when the pool was closed and the last place has come
//! back, and at no other time. A leaked place never comes back.
//!
//! `Places` are never freed but used again by the next pool, so that a place is a plain reference, and
//! one that comes back late finds its home.
#![expect(unsafe_code, reason = "unmaps slabs when no place is out")]

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;
use parking_lot::{Mutex, MutexGuard};

use super::aging::Aging;
use super::guard::GuardKind;
use super::pool::StackError;
use super::portable::Idle;
use super::slab::{CLASSES, Class, Slot, give_back};
use super::store::Store;

/// Stacks a shelf holds per class, and how many places move between it and the rest at a time.
const SHELF: usize = 64;
const HANDFUL: usize = SHELF / 2;

/// With so few unclaimed places they are claimed one by one: a handful that is on its way to a shelf
/// would make others believe that the cap is reached.
const FEW: usize = 64 * HANDFUL;

/// All places of one pool.
pub(super) struct Places {
    cap: AtomicUsize,
    guards_are_mappings: AtomicBool,
    unclaimed: CachePadded<AtomicUsize>,
    racks: Box<[CachePadded<Rack>]>,
    leaked: AtomicUsize,
    /// Places still out, once the pool is closed.
    left: AtomicUsize,
    /// Idle stacks of the dense backend that are on no shelf.
    pub(super) store: Store,
    /// Idle stacks of the portable backend.
    pub(super) finished: Mutex<Aging<Idle>>,
}

/// A shelf with its lock, and how many places it had when the lock was free.
#[derive(Default)]
struct Rack {
    shelf: Mutex<Shelf>,
    idle: AtomicUsize,
}

impl Rack {
    #[inline]
    fn lock(&self) -> Locked<'_> {
        Locked {
            shelf: self.shelf.lock(),
            told: &self.idle,
        }
    }
}

/// Says how many places there are when it lets the shelf go.
struct Locked<'a> {
    shelf: MutexGuard<'a, Shelf>,
    told: &'a AtomicUsize,
}

impl Deref for Locked<'_> {
    type Target = Shelf;

    fn deref(&self) -> &Shelf {
        &self.shelf
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Shelf {
        &mut self.shelf
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.told.store(self.shelf.idle, Ordering::Relaxed);
    }
}

/// The idle places next to an OS thread.
#[derive(Default)]
struct Shelf {
    stacks: [Vec<Slot>; CLASSES],
    /// Places without a stack.
    bare: usize,
    /// All of them.
    idle: usize,
    closed: bool,
}

impl Shelf {
    #[inline]
    fn pop(&mut self, class: Class) -> Option<Slot> {
        let slot = self.stacks[class.index()].pop()?;
        self.idle -= 1;
        Some(slot)
    }

    fn pop_any(&mut self) -> Option<Slot> {
        let slot = self.stacks.iter_mut().find_map(Vec::pop)?;
        self.idle -= 1;
        Some(slot)
    }

    #[inline]
    fn push(&mut self, slot: Slot) {
        self.stacks[slot.class().index()].push(slot);
        self.idle += 1;
    }

    fn take_bare(&mut self, count: usize) {
        self.bare -= count;
        self.idle -= count;
    }

    fn add_bare(&mut self, count: usize) {
        self.bare += count;
        self.idle += count;
    }
}

/// Those whose pool is gone.
static UNUSED: Mutex<Vec<&'static Places>> = Mutex::new(Vec::new());

impl Places {
    /// `cap` places, none of them out.
    pub(super) fn open(cap: usize, guards: GuardKind) -> &'static Self {
        let unused = UNUSED.lock().pop();
        let places = unused.unwrap_or_else(|| Box::leak(Box::new(Self::none())));
        places.cap.store(cap, Ordering::Relaxed);
        places
            .guards_are_mappings
            .store(guards == GuardKind::Mapping, Ordering::Relaxed);
        places.leaked.store(0, Ordering::Relaxed);
        places.unclaimed.store(cap, Ordering::Release);
        places
    }

    fn none() -> Self {
        let cores = std::thread::available_parallelism().map_or(4, usize::from);
        let shelves = (2 * cores).next_power_of_two();
        Self {
            cap: AtomicUsize::new(0),
            guards_are_mappings: AtomicBool::new(false),
            unclaimed: CachePadded::new(AtomicUsize::new(0)),
            racks: (0..shelves).map(|_| CachePadded::default()).collect(),
            leaked: AtomicUsize::new(0),
            left: AtomicUsize::new(0),
            store: Store::default(),
            finished: Mutex::default(),
        }
    }

    pub(super) fn cap(&self) -> usize {
        self.cap.load(Ordering::Relaxed)
    }

    pub(super) fn guards(&self) -> GuardKind {
        if self.guards_are_mappings.load(Ordering::Relaxed) {
            GuardKind::Mapping
        } else {
            GuardKind::Marker
        }
    }

    /// Places that are out, leaked ones included.
    pub(super) fn live(&self) -> usize {
        let shelves: Vec<_> = self.racks.iter().map(|rack| rack.lock()).collect();
        self.out(shelves.iter().map(|shelf| shelf.idle))
    }

    /// [`live`](Self::live) without a lock, for those whom nobody is to wait for: exact while no place moves.
    pub(super) fn live_roughly(&self) -> usize {
        self.out(
            self.racks
                .iter()
                .map(|rack| rack.idle.load(Ordering::Relaxed)),
        )
    }

    fn out(&self, idle: impl Iterator<Item = usize>) -> usize {
        let unclaimed = self.unclaimed.load(Ordering::Relaxed);
        self.cap()
            .saturating_sub(unclaimed.saturating_add(idle.sum()))
    }

    pub(super) fn leaked(&self) -> usize {
        self.leaked.load(Ordering::Relaxed)
    }

    pub(super) fn count_leak(&self) {
        self.leaked.fetch_add(1, Ordering::Relaxed);
    }

    /// A place with a stack.
    #[inline]
    pub(super) fn take_stack(&self, class: Class) -> Result<Slot, StackError> {
        let slot = self.rack().lock().pop(class);
        match slot {
            Some(slot) => Ok(slot),
            None => self.fetch_stacks(class),
        }
    }

    /// A place without a stack.
    pub(super) fn take_bare(&self) -> Result<(), StackError> {
        {
            let mut shelf = self.rack().lock();
            if shelf.bare > 0 {
                shelf.take_bare(1);
                return Ok(());
            }
        }
        let claimed = self.claim()?;
        self.rack().lock().add_bare(claimed - 1);
        Ok(())
    }

    /// Takes a place with its stack back.
    #[inline]
    pub(super) fn put_stack(&'static self, slot: Slot) {
        let class = slot.class();
        let mut shelf = self.rack().lock();
        if !shelf.closed && shelf.stacks[class.index()].len() < SHELF {
            shelf.push(slot);
        } else {
            self.put_elsewhere(shelf, slot);
        }
    }

    /// Takes a place without a stack back.
    pub(super) fn put_bare(&'static self) {
        let mut shelf = self.rack().lock();
        if shelf.closed {
            drop(shelf);
            self.one_came_back();
        } else if shelf.bare < SHELF {
            shelf.add_bare(1);
        } else {
            shelf.take_bare(HANDFUL - 1);
            self.unclaimed.fetch_add(HANDFUL, Ordering::Relaxed);
        }
    }

    #[cold]
    fn fetch_stacks(&self, class: Class) -> Result<Slot, StackError> {
        let claimed = self.claim()?;
        let slots = self.store.take(class, claimed, self.guards());
        let brought = slots.as_ref().map_or(0, Vec::len);
        self.unclaimed
            .fetch_add(claimed - brought, Ordering::Relaxed);
        let mut slots = slots.map_err(StackError::Refused)?;
        let slot = slots.pop().ok_or(std::io::ErrorKind::OutOfMemory.into());
        let mut shelf = self.rack().lock();
        shelf.stacks[class.index()].reserve(SHELF);
        slots.into_iter().for_each(|slot| shelf.push(slot));
        slot.map_err(StackError::Refused)
    }

    #[cold]
    fn put_elsewhere(&'static self, mut shelf: Locked<'_>, slot: Slot) {
        let class = slot.class();
        if shelf.closed {
            drop(shelf);
            give_back(&mut [slot]);
            self.one_came_back();
            return;
        }
        self.store
            .put(class, shelf.stacks[class.index()].drain(..HANDFUL));
        shelf.idle -= HANDFUL;
        shelf.push(slot);
        self.unclaimed.fetch_add(HANDFUL, Ordering::Relaxed);
    }

    /// Claims a handful of places, or as many as there are; at the cap, one that is idle on any shelf.
    fn claim(&self) -> Result<usize, StackError> {
        let handful = |unclaimed: usize| match unclaimed {
            0 => None,
            1..=FEW => Some(1),
            _ => Some(HANDFUL),
        };
        let relaxed = Ordering::Relaxed;
        let claimed = self.unclaimed.fetch_update(relaxed, relaxed, |unclaimed| {
            handful(unclaimed).map(|count| unclaimed - count)
        });
        if let Some(count) = claimed.ok().and_then(handful) {
            return Ok(count);
        }
        for rack in &self.racks {
            let mut shelf = rack.lock();
            if shelf.bare > 0 {
                shelf.take_bare(1);
                return Ok(1);
            }
            if let Some(slot) = shelf.pop_any() {
                drop(shelf);
                self.store.put(slot.class(), [slot]);
                return Ok(1);
            }
        }
        Err(StackError::Limit {
            live: self.live(),
            cap: self.cap(),
        })
    }

    /// The pool is gone: no place goes out any more, idle memory goes back to the system, and the last
    /// place that comes back ends the slabs.
    pub(super) fn close(&'static self) {
        let mut shelves: Vec<_> = self.racks.iter().map(|rack| rack.lock()).collect();
        let out = self.out(shelves.iter().map(|shelf| shelf.idle));
        // One more than are out, so that none of them is the last before this is through.
        self.left.store(out + 1, Ordering::Relaxed);
        let mut idle = Vec::new();
        for shelf in &mut shelves {
            let closed = Shelf {
                closed: true,
                ..Shelf::default()
            };
            let shelf = std::mem::replace(&mut **shelf, closed);
            idle.extend(shelf.stacks.into_iter().flatten());
        }
        drop(shelves);
        if out > 0 {
            give_back(&mut idle);
            self.store.give_back_all();
        }
        self.one_came_back();
    }

    fn one_came_back(&'static self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: "kept mapped": closed, and by "counted" this was the last place. Those on shelves
            // and in the store are dropped with it.
            unsafe { self.store.unmap() };
            drop(std::mem::take(&mut *self.finished.lock()));
            for rack in &self.racks {
                rack.lock().closed = false;
            }
            UNUSED.lock().push(self);
        }
    }

    fn rack(&self) -> &Rack {
        thread_local! {
            static NUMBER: usize = {
                static NEXT: AtomicUsize = AtomicUsize::new(0);
                NEXT.fetch_add(1, Ordering::Relaxed)
            };
        }
        // A thread that ends may still give a place back while its thread-locals are torn down.
        let number = NUMBER.try_with(|&number| number).unwrap_or(0);
        &self.racks[number & (self.racks.len() - 1)]
    }
}
