//! The stacks nobody uses now.
//!
//! ```text
//!   take ──> this OS thread's shelf ──> the class's warm, then cold stacks ──> carve a slab ──> map one
//!   put  ──> this OS thread's shelf ──> warm ──(nobody needed it for a while)──> cold
//! ```
//!
//! A stack that comes back goes onto a shelf, last in first out, so that its pages are still in the
//! cache. A full shelf empties half of itself into the store. There stacks are *warm*, with memory behind
//! them, until [`Store::give_back_idle`] finds that nobody needed them since it last looked; then the
//! memory goes back to the system, and they are *cold*: an address range and a guard. Giving back at
//! once would cost a stack that is needed again two microseconds, one to free its page and one to fault
//! it in.
//!
//! The common case is one uncontended lock and no system call, no allocation. Locks are leaves, held for
//! a few instructions; a shelf is picked by OS thread.
#![expect(unsafe_code, reason = "ends slabs, when nothing lives on them")]

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use super::guard::GuardKind;
use super::slab::{CLASSES, Class, Slab, Slot, give_back};

/// Stacks a shelf holds per class, and how many move between it and the store at a time.
const SHELF: usize = 64;
const HANDFUL: usize = SHELF / 2;

/// Stacks given back in one go: a few milliseconds of system calls.
const SLICE: usize = 4096;

/// Idle stacks of our own slabs.
pub(super) struct Store {
    guards: GuardKind,
    shelves: Box<[CachePadded<Mutex<Shelf>>]>,
    classes: [Mutex<Stock>; CLASSES],
}

/// The stacks next to an OS thread.
#[derive(Default)]
struct Shelf {
    slots: [Vec<Slot>; CLASSES],
}

/// All other idle stacks of one class.
#[derive(Default)]
struct Stock {
    warm: Aging<Slot>,
    cold: Vec<Slot>,
    slabs: Vec<Slab>,
}

impl Store {
    pub(super) fn new(guards: GuardKind) -> Self {
        let cores = std::thread::available_parallelism().map_or(4, usize::from);
        let shelves = (2 * cores).next_power_of_two();
        Self {
            guards,
            shelves: (0..shelves).map(|_| CachePadded::default()).collect(),
            classes: std::array::from_fn(|_| Mutex::default()),
        }
    }

    pub(super) fn take(&self, class: Class) -> io::Result<Slot> {
        let mut shelf = self.shelf().lock();
        let slots = &mut shelf.slots[class.index()];
        if slots.is_empty() {
            self.refill(class, slots)?;
        }
        // A refill that succeeds brings at least one.
        slots.pop().ok_or(io::ErrorKind::OutOfMemory.into())
    }

    pub(super) fn put(&self, slot: Slot) {
        let class = slot.class();
        let mut shelf = self.shelf().lock();
        let slots = &mut shelf.slots[class.index()];
        if slots.len() >= SHELF {
            self.unload(class, slots);
        }
        slots.push(slot);
    }

    /// Gives memory back that was not needed since the last call. Bounded work; says whether there is
    /// more to do at once.
    pub(super) fn give_back_idle(&self) -> bool {
        let mut more = false;
        for stock in &self.classes {
            let (mut slice, rest) = stock.lock().warm.take_unneeded(SLICE);
            if !slice.is_empty() {
                give_back(&mut slice);
                stock.lock().cold.append(&mut slice);
            }
            more |= rest;
        }
        more
    }

    /// Whether idle stacks hold memory, those on shelves aside.
    pub(super) fn has_idle(&self) -> bool {
        self.classes.iter().any(|stock| stock.lock().warm.len() > 0)
    }

    fn shelf(&self) -> &Mutex<Shelf> {
        thread_local! {
            static NUMBER: usize = {
                static NEXT: AtomicUsize = AtomicUsize::new(0);
                NEXT.fetch_add(1, Ordering::Relaxed)
            };
        }
        // A thread that ends may still give stacks back while its thread-locals are torn down.
        let number = NUMBER.try_with(|&number| number).unwrap_or(0);
        &self.shelves[number & (self.shelves.len() - 1)]
    }

    #[cold]
    fn refill(&self, class: Class, slots: &mut Vec<Slot>) -> io::Result<()> {
        slots.reserve_exact(SHELF);
        let mut stock = self.classes[class.index()].lock();
        let stock = &mut *stock;
        slots.extend(stock.warm.take_newest(HANDFUL));
        if slots.is_empty() {
            let rest = stock.cold.len().saturating_sub(HANDFUL);
            slots.extend(stock.cold.drain(rest..));
        }
        if slots.is_empty() {
            if stock.slabs.last().is_none_or(Slab::is_used_up) {
                stock.slabs.push(Slab::map(class, self.guards)?);
            }
            if let Some(slab) = stock.slabs.last_mut() {
                slab.carve(HANDFUL, slots);
            }
        }
        Ok(())
    }

    #[cold]
    fn unload(&self, class: Class, slots: &mut Vec<Slot>) {
        let older = slots.drain(..HANDFUL);
        self.classes[class.index()].lock().warm.extend(older);
    }

    /// Unmaps everything.
    ///
    /// # Safety
    ///
    /// Every slot that was taken must have been put back.
    pub(super) unsafe fn unmap(&mut self) {
        for stock in &mut self.classes {
            for slab in stock.get_mut().slabs.drain(..) {
                // SAFETY: the caller's promise; the slots on shelves and in stock go with the store.
                unsafe { slab.unmap() };
            }
        }
    }
}

/// Idle things, the longest idle at the front, and how many of those nobody needed of late.
pub(super) struct Aging<T> {
    things: VecDeque<T>,
    /// So many at the front were idle all the time since the last round of `take_unneeded`.
    unneeded: usize,
}

impl<T> Default for Aging<T> {
    fn default() -> Self {
        Self {
            things: VecDeque::new(),
            unneeded: 0,
        }
    }
}

impl<T> Aging<T> {
    pub(super) fn len(&self) -> usize {
        self.things.len()
    }

    pub(super) fn extend(&mut self, things: impl IntoIterator<Item = T>) {
        self.things.extend(things);
    }

    /// Up to `count` of those that became idle last.
    fn take_newest(&mut self, count: usize) -> impl Iterator<Item = T> + '_ {
        let rest = self.things.len().saturating_sub(count);
        self.unneeded = self.unneeded.min(rest);
        self.things.drain(rest..)
    }

    /// The one that became idle last among those that fit.
    pub(super) fn take_newest_that(&mut self, fits: impl FnMut(&T) -> bool) -> Option<T> {
        let at = self.things.iter().rposition(fits)?;
        if at < self.unneeded {
            self.unneeded -= 1;
        }
        self.things.remove(at)
    }

    /// The one that is idle longest.
    pub(super) fn take_oldest(&mut self) -> Option<T> {
        self.unneeded = self.unneeded.saturating_sub(1);
        self.things.pop_front()
    }

    /// Up to `limit` of those nobody needed since the last round, and whether this round has more. A round
    /// that is through makes all that is left the candidates of the next.
    pub(super) fn take_unneeded(&mut self, limit: usize) -> (Vec<T>, bool) {
        let count = self.unneeded.min(limit);
        self.unneeded -= count;
        let taken = self.things.drain(..count).collect();
        let more = self.unneeded > 0;
        if !more {
            self.unneeded = self.things.len();
        }
        (taken, more)
    }
}
