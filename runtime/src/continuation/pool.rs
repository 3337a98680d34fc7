//! Stack pools, as the runtime sees them, and the places that are out of one.

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::extent::Extent;
use super::guard::GuardKind;
use super::places::Places;
use super::slab::{Class, Slot};
use super::{Stacks, budget, dense, portable};

/// Portable stacks up to this size serve smaller requests too.
const SMALL: usize = 64 << 10;

/// Portable stacks unmapped in one go; each costs about nine microseconds.
const SLICE: usize = 256;

/// One runtime's stacks.
pub(crate) struct StackPool {
    kind: Stacks,
    places: &'static Places,
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

/// The least that a stack of the portable backend has, as the smallest slot of the other one has more: what the runtime itself
/// puts on a stack would not fit in a page.
const MIN_STACK: usize = 32 << 10;

/// The right to one stack. Dropping it gives the place back.
#[must_use]
pub(crate) struct Reservation {
    place: Place,
}

pub(super) enum Place {
    Dense(DenseStack),
    Portable(PortableStack),
}

impl Reservation {
    pub(super) fn into_place(self) -> Place {
        self.place
    }
}

/// A place with a stack that is in use, or about to be; given back by drop.
pub(super) struct DenseStack {
    /// Taken by `drop` only.
    slot: Option<Slot>,
    places: &'static Places,
}

/// A place with a stack of the portable backend that has no body; given back by drop.
pub(super) struct PortableStack {
    /// Taken by `take` or `drop` only.
    parts: Option<(portable::Idle, Ticket)>,
}

/// A place without a stack, given back by drop.
pub(super) struct Ticket {
    places: &'static Places,
}

impl StackPool {
    /// A pool of `kind`. Without `max_threads` the cap comes from the memory available, the cgroup's
    /// limit and, where stacks cost mappings, the kernel's limit on those; with it, only from the last.
    pub(crate) fn new(kind: Stacks, max_threads: Option<usize>) -> Self {
        Self::with_guards(kind, max_threads, GuardKind::detect())
    }

    /// As `new`, with guards made in a way of the caller's choice.
    pub(super) fn with_guards(kind: Stacks, max_threads: Option<usize>, guards: GuardKind) -> Self {
        let kind = match kind {
            Stacks::Dense if dense::SUPPORTED => Stacks::Dense,
            _ => Stacks::Generator,
        };
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
        Self {
            kind,
            places: Places::open(cap, guards),
        }
    }

    /// The most stacks there may be at a time.
    pub(crate) fn cap(&self) -> usize {
        self.places.cap()
    }

    /// Stacks reserved, in use, or leaked.
    pub(crate) fn live(&self) -> usize {
        self.places.live()
    }

    /// [`live`](Self::live) for metrics: nobody waits for it, and while threads come and go it may be off by those.
    pub(crate) fn live_roughly(&self) -> usize {
        self.places.live_roughly()
    }

    /// Stacks that were dropped with live frames on them and are kept for ever.
    pub(crate) fn leaked(&self) -> usize {
        self.places.leaked()
    }

    /// Admits one more thread, and sets its address range aside.
    pub(crate) fn reserve(self: &Arc<Self>, stack_size: usize) -> Result<Reservation, StackError> {
        let places = self.places;
        // Also where classes are not used, so that both backends refuse the same sizes.
        let class = Class::for_stack(stack_size).ok_or_else(too_large)?;
        let place = match self.kind {
            Stacks::Dense => {
                let slot = Some(places.take_stack(class)?);
                let mut stack = DenseStack { slot, places };
                // One that takes a mapping may be refused, which must be known before the thread is admitted.
                if places.guards() == GuardKind::Mapping {
                    stack.prepare()?;
                }
                Place::Dense(stack)
            }
            Stacks::Generator => {
                places.take_bare()?;
                let stack_size = stack_size.max(MIN_STACK);
                Place::Portable(PortableStack::find(Ticket { places }, stack_size)?)
            }
        };
        Ok(Reservation { place })
    }

    /// Gives the memory of stacks back that nobody needed since the last call; to be called about once a
    /// second while [`has_idle`](Self::has_idle). Bounded work: says whether there is more to do at once.
    pub(crate) fn give_back_idle(&self) -> bool {
        let more_dense = self.places.store.give_back_idle();
        let (unneeded, more_portable) = self.places.finished.lock().take_unneeded(SLICE);
        drop(unneeded);
        more_dense || more_portable
    }

    /// Whether there is memory that [`give_back_idle`](Self::give_back_idle) would give back in time.
    pub(crate) fn has_idle(&self) -> bool {
        self.places.store.has_idle() || self.places.finished.lock().len() > 0
    }
}

#[cfg(test)]
impl StackPool {
    pub(super) fn kind(&self) -> Stacks {
        self.kind
    }

    pub(super) fn finished_generators(&self) -> usize {
        self.places.finished.lock().len()
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
        self.places.close();
    }
}

impl DenseStack {
    /// Makes the stack ready for its first frame, and says where it lies and where that frame goes.
    pub(super) fn prepare(&mut self) -> Result<(Extent, NonZeroUsize), StackError> {
        let slot = self.slot.as_mut().expect("only drop takes the slot");
        slot.ensure_guard(self.places.guards())
            .map_err(StackError::Refused)?;
        Ok((slot.extent(), slot.top()))
    }

    /// Counts the stack as leaked; the caller never drops it.
    pub(super) fn count_leak(&self) {
        self.places.count_leak();
    }
}

impl Drop for DenseStack {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.places.put_stack(slot);
        }
    }
}

impl PortableStack {
    /// One that has served another thread, or a new one.
    fn find(ticket: Ticket, stack_size: usize) -> Result<Self, StackError> {
        let idle = match ticket.take_finished(stack_size) {
            Some(idle) => idle,
            None => {
                portable::Idle::map(stack_size, ticket.guards()).map_err(StackError::Refused)?
            }
        };
        Ok(Self {
            parts: Some((idle, ticket)),
        })
    }

    pub(super) fn take(mut self) -> (portable::Idle, Ticket) {
        self.parts.take().expect("nothing else takes them but drop")
    }
}

impl Drop for PortableStack {
    fn drop(&mut self) {
        if let Some((idle, ticket)) = self.parts.take() {
            ticket.keep_finished(idle);
        }
    }
}

impl Ticket {
    fn guards(&self) -> GuardKind {
        self.places.guards()
    }

    /// A finished generator of the right size. When there is none and mappings are running short, another
    /// one is ended to make room.
    fn take_finished(&self, stack_size: usize) -> Option<portable::Idle> {
        let mut finished = self.places.finished.lock();
        let fits = |idle: &portable::Idle| {
            let size = idle.stack_size();
            stack_size <= size && size / 2 <= stack_size.max(SMALL)
        };
        let fitting = finished.take_newest_that(fits);
        let full = || self.places.live() + finished.len() > self.places.cap();
        let unfit = if fitting.is_none() && finished.len() > 0 && full() {
            finished.take_oldest()
        } else {
            None
        };
        drop(finished);
        drop(unfit);
        fitting
    }

    /// Takes a finished generator for the next thread.
    pub(super) fn keep_finished(self, idle: portable::Idle) {
        self.places.finished.lock().extend([idle]);
    }

    /// Counts the place as leaked; the caller never drops it.
    pub(super) fn count_leak(&self) {
        self.places.count_leak();
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.places.put_bare();
    }
}
