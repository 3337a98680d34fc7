//! How many stacks there are, who may have one, and which are used again.
//!
//! ```text
//!   reserve ─> live < cap? ─> this thread's shelf ─> the class's store ─> carve a slab ─> map a slab
//!                │ no              (a few dozen)      warm, then cold       (no system call per
//!                └─> Limit                                                   stack in the common case)
//! ```
//!
//! A stack that comes back goes onto a shelf, last in first out, so that its pages are still in the
//! cache. A full shelf empties half of itself into the store. The store keeps a bounded number of *warm*
//! stacks (with memory behind them); what is above it gets *cold*: its memory goes back to the system,
//! its address range stays. [`StackPool::give_back_idle`] does the same for stacks nobody needed since
//! its last call.
//!
//! **Invariant (counted):** every [`Reservation`], and the stack it became, is one in `live`; `live`
//! never exceeds `cap`. Leaked stacks stay counted: their memory is still in use.
//!
//! **Invariant (kept mapped):** everything that holds a stack holds the pool, and a leaked stack never
//! lets go of it, so slabs are unmapped only when no stack of theirs is out.
//!
//! Locks here are leaves, held for a few instructions; a shelf is picked by OS thread, so that it is
//! uncontended while carriers are fewer than shelves.
#![expect(unsafe_code, reason = "ends slabs, when nothing lives on them")]

use std::fmt;
use std::io;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use super::slab::{CLASSES, Class, Extent, GuardKind, Slab, Slot};
use super::{Stacks, budget, dense, portable};

/// Stacks a shelf holds per class, and how many move between it and the store at a time.
const SHELF: usize = 64;
const HANDFUL: usize = SHELF / 2;

/// Warm stacks a store keeps whatever happens: one page each, as most threads leave them, is 16 MiB.
const WARM_FLOOR: usize = 4096;

/// One runtime's stacks.
pub(crate) struct StackPool {
    kind: Stacks,
    cap: usize,
    guards: GuardKind,
    live: CachePadded<AtomicUsize>,
    leaked: AtomicUsize,
    shelves: Box<[CachePadded<Mutex<Shelf>>]>,
    stores: [Mutex<Store>; CLASSES],
    /// Finished generators, by stack size; mapped ones are counted here and in tickets.
    idle: Mutex<Vec<portable::Idle>>,
}

/// The stacks next to one OS thread.
#[derive(Default)]
struct Shelf {
    slots: [Vec<Slot>; CLASSES],
}

/// All other idle stacks of one class.
#[derive(Default)]
struct Store {
    warm: Vec<Slot>,
    cold: Vec<Slot>,
    slabs: Vec<Slab>,
    /// How few warm stacks there were since `give_back_idle` looked last.
    fewest_warm: usize,
}

/// Why there is no stack.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum StackError {
    /// As many virtual threads are live as the pool allows.
    Limit {
        /// Live threads, leaked ones included.
        live: usize,
        /// The most there may be.
        cap: usize,
    },
    /// The system gave no memory or no mapping, or nothing can have the size asked for.
    Refused(io::Error),
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit { live, cap } => write!(
                f,
                "no stack: {live} virtual threads are live and the limit is {cap}; raise max_threads or the memory it was computed from"
            ),
            Self::Refused(error) => {
                write!(f, "no stack: the system refused memory for it: {error}")
            }
        }
    }
}

impl std::error::Error for StackError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Limit { .. } => None,
            Self::Refused(error) => Some(error),
        }
    }
}

/// The right to one stack. Dropping it gives the place back.
#[must_use]
pub(crate) struct Reservation {
    place: Place,
}

pub(super) enum Place {
    Dense(DenseStack),
    Portable(Ticket),
}

impl Reservation {
    pub(super) fn into_place(self) -> Place {
        self.place
    }
}

/// A slot that is in use, or about to be.
pub(super) struct DenseStack {
    slot: ManuallyDrop<Slot>,
    pool: Arc<StackPool>,
}

/// The right to one stack of the portable backend, which maps it at the first mount.
pub(super) struct Ticket {
    stack_size: usize,
    pool: Arc<StackPool>,
}

impl StackPool {
    /// A pool of `kind`. Without `max_threads` the cap comes from the memory available, the cgroup's
    /// limit and, where stacks cost mappings, the kernel's limit on those; with it, only from the last.
    pub(crate) fn new(kind: Stacks, max_threads: Option<usize>) -> Self {
        let kind = if dense::SUPPORTED {
            kind
        } else {
            Stacks::Generator
        };
        let guards = GuardKind::detect();
        if kind == Stacks::Generator {
            portable::prepare();
        }
        let mappings_per_stack = match (kind, guards) {
            (Stacks::Dense, GuardKind::Marker) => 0,
            (Stacks::Dense, GuardKind::Mapping) | (Stacks::Generator, GuardKind::Marker) => 2,
            (Stacks::Generator, GuardKind::Mapping) => 3,
        };
        let wanted = max_threads.unwrap_or_else(budget::threads_in_memory);
        let cap = match mappings_per_stack {
            0 => wanted,
            each => wanted.min(budget::free_mappings() / each),
        };
        let shelves = std::thread::available_parallelism().map_or(4, |cores| 2 * cores.get());
        Self {
            kind,
            cap,
            guards,
            live: CachePadded::new(AtomicUsize::new(0)),
            leaked: AtomicUsize::new(0),
            shelves: (0..shelves.next_power_of_two())
                .map(|_| CachePadded::default())
                .collect(),
            stores: std::array::from_fn(|_| Mutex::default()),
            idle: Mutex::default(),
        }
    }

    /// Which backend the stacks come from.
    pub(crate) fn kind(&self) -> Stacks {
        self.kind
    }

    /// The most stacks there may be at a time.
    pub(crate) fn cap(&self) -> usize {
        self.cap
    }

    /// Stacks reserved, in use, or leaked.
    pub(crate) fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// Stacks that were dropped with live frames on them and are kept for ever.
    pub(crate) fn leaked(&self) -> usize {
        self.leaked.load(Ordering::Relaxed)
    }

    /// Admits one more thread. On a dense pool its stack is ready after this.
    pub(crate) fn reserve(self: &Arc<Self>, stack_size: usize) -> Result<Reservation, StackError> {
        let before = self.live.fetch_add(1, Ordering::Relaxed);
        if before >= self.cap {
            let live = self.live.fetch_sub(1, Ordering::Relaxed) - 1;
            return Err(StackError::Limit {
                live: live.min(self.cap),
                cap: self.cap,
            });
        }
        // From here on the drop of `ticket` takes the place out of `live`.
        let ticket = Ticket {
            stack_size,
            pool: Arc::clone(self),
        };
        let place = match self.kind {
            Stacks::Dense => {
                let class = Class::for_stack(stack_size).ok_or_else(too_large)?;
                let slot = self.take(class).map_err(StackError::Refused)?;
                Place::Dense(DenseStack {
                    slot: ManuallyDrop::new(slot),
                    pool: ticket.into_pool(),
                })
            }
            Stacks::Generator => Place::Portable(ticket),
        };
        Ok(Reservation { place })
    }

    /// Gives the memory of stacks back that nobody needed since the last call. Costs a system call per
    /// stack given back, none when there is nothing to do.
    pub(crate) fn give_back_idle(&self) {
        for store in &self.stores {
            let mut idle = {
                let mut store = store.lock();
                let unneeded = store.fewest_warm.min(store.warm.len());
                // The oldest lie at the front.
                let idle: Vec<Slot> = store.warm.drain(..unneeded).collect();
                store.fewest_warm = store.warm.len();
                idle
            };
            if !idle.is_empty() {
                idle.iter_mut().for_each(Slot::give_back);
                store.lock().cold.append(&mut idle);
            }
        }
        let excess = std::mem::take(&mut *self.idle.lock());
        drop(excess);
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

    fn take(&self, class: Class) -> io::Result<Slot> {
        let mut shelf = self.shelf().lock();
        let slots = &mut shelf.slots[class.index()];
        if let Some(slot) = slots.pop() {
            return Ok(slot);
        }
        self.refill(class, slots)?;
        Ok(slots.pop().expect("a refill that succeeds brings a stack"))
    }

    #[cold]
    fn refill(&self, class: Class, slots: &mut Vec<Slot>) -> io::Result<()> {
        slots.reserve_exact(SHELF);
        let mut store = self.stores[class.index()].lock();
        let store = &mut *store;
        for source in [&mut store.warm, &mut store.cold] {
            let rest = source.len().saturating_sub(HANDFUL);
            slots.extend(source.drain(rest..));
            if !slots.is_empty() {
                break;
            }
        }
        store.fewest_warm = store.fewest_warm.min(store.warm.len());
        if !slots.is_empty() {
            return Ok(());
        }
        if store.slabs.last().is_none_or(Slab::is_used_up) {
            store.slabs.push(Slab::map(class, self.guards)?);
        }
        let slab = store
            .slabs
            .last_mut()
            .expect("one was pushed if there was none");
        match slab.carve(HANDFUL, slots) {
            Err(refused) if slots.is_empty() => Err(refused),
            _ => Ok(()),
        }
    }

    fn put(&self, slot: Slot) {
        let class = slot.class();
        let mut shelf = self.shelf().lock();
        let slots = &mut shelf.slots[class.index()];
        if slots.len() >= SHELF {
            self.unload(class, slots);
        }
        slots.push(slot);
    }

    /// Moves the older half of a shelf into the store, and what is too much there to the cold.
    #[cold]
    fn unload(&self, class: Class, slots: &mut Vec<Slot>) {
        let keep_warm = WARM_FLOOR.max(self.live() / 2);
        let mut excess = Vec::new();
        {
            let mut store = self.stores[class.index()].lock();
            if store.warm.len() < keep_warm {
                store.warm.extend(slots.drain(..HANDFUL));
            } else {
                excess.extend(slots.drain(..HANDFUL));
            }
        }
        if !excess.is_empty() {
            excess.iter_mut().for_each(Slot::give_back);
            self.stores[class.index()].lock().cold.append(&mut excess);
        }
    }
}

fn too_large() -> StackError {
    StackError::Refused(io::Error::new(
        io::ErrorKind::InvalidInput,
        "the stack size asked for is larger than any stack can be",
    ))
}

impl Drop for StackPool {
    fn drop(&mut self) {
        for store in &mut self.stores {
            for slab in store.get_mut().slabs.drain(..) {
                // SAFETY: "kept mapped": no reservation, stack or leaked stack is left, or it would hold
                // the pool; the slots on shelves and in stores are dropped with it.
                unsafe { slab.unmap() };
            }
        }
    }
}

impl DenseStack {
    pub(super) fn extent(&self) -> Extent {
        self.slot.extent()
    }

    /// Keeps the stack, and with it the pool, for ever.
    pub(super) fn leak(self) {
        self.pool.leaked.fetch_add(1, Ordering::Relaxed);
        std::mem::forget(self);
    }
}

impl Drop for DenseStack {
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        let slot = unsafe { ManuallyDrop::take(&mut self.slot) };
        self.pool.put(slot);
        self.pool.live.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Ticket {
    pub(super) fn stack_size(&self) -> usize {
        self.stack_size
    }

    /// A finished generator of the right size; others are ended to make room for a new one.
    pub(super) fn take_idle(&mut self) -> Option<portable::Idle> {
        let mut idle = self.pool.idle.lock();
        let fits = |idle: &portable::Idle| {
            let size = idle.stack_size();
            self.stack_size <= size && size / 2 <= self.stack_size
        };
        if let Some(at) = idle.iter().rposition(fits) {
            return Some(idle.swap_remove(at));
        }
        // Mappings are the scarce thing: what is mapped never exceeds the cap.
        let unfit = if self.pool.live() + idle.len() > self.pool.cap {
            idle.pop()
        } else {
            None
        };
        drop(idle);
        drop(unfit);
        None
    }

    /// Takes a finished generator for the next thread.
    pub(super) fn keep_idle(self, finished: portable::Idle) {
        let mut idle = self.pool.idle.lock();
        idle.push(finished);
    }

    /// Keeps the place, and with it the pool, for ever.
    pub(super) fn leak(self) {
        self.pool.leaked.fetch_add(1, Ordering::Relaxed);
        std::mem::forget(self);
    }

    /// The pool; the place stays taken.
    fn into_pool(self) -> Arc<StackPool> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is never dropped, so the reference moves out once.
        unsafe { std::ptr::read(&this.pool) }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.pool.live.fetch_sub(1, Ordering::Relaxed);
    }
}
