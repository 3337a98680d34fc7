//! The portable backend: the `generator` crate, kept from doing what we cannot have.
//!
//! What we rely on, and what we guard against:
//! - Its stack sizes are in words, and an odd number switches on a tracking that touches every page:
//!   [`words`] is the one conversion.
//! - It panics when it gets no memory: creation is counted beforehand (`pool`), and caught.
//! - Its own guard is one page: we close [`GUARD`] bytes more at the low end of each stack. Where guards
//!   are markers, that also takes back the page the crate touched there for its watermark.
//! - Its fault handler unwinds nothing and locks in signal context: it is made to install itself first
//!   (`fault`), then ours goes in front.
//! - Dropping a suspended generator unwinds its body: we never do that.
//! - Dropping any generator reads the watermark in the lowest words of its stack, and panics when it is
//!   gone: the extra guard is opened and the watermark put back before.
//!
//! **Invariant (idle holds nothing):** an [`Idle`] generator has finished: no body, no frame and no
//! value of a user is in it.
#![expect(
    unsafe_code,
    reason = "protects stack memory, and reaches the scope at the bottom of a stack"
)]

use std::io;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

use super::extent::{Extent, page_size};
use super::guard::{GUARD, GuardKind};
use super::pool::{PortableStack, StackError, Ticket};
use super::running::{self, Backend, State};
use super::{Step, ThreadLabel, budget, fault, slab};
use ::generator::{Gn, LocalGenerator, Scope};

type Stackful = LocalGenerator<'static, (), ()>;
type StackfulScope<'scope> = Scope<'scope, 'static, (), ()>;

/// A body on a stack of the `generator` crate.
pub(super) struct Portable {
    state: State,
    idle: ManuallyDrop<Idle>,
    ticket: ManuallyDrop<Ticket>,
}

/// A generator that has finished, or was never started, and its stack.
pub(super) struct Idle {
    generator: ManuallyDrop<Stackful>,
    extent: Extent,
    watermark: Watermark,
    guards: GuardKind,
}

/// What the crate writes at the low end of a stack and expects to find there in the end.
type Watermark = [usize; 8];

// SAFETY: "idle holds nothing": no user's value moves with it. The reference counts inside are shared
// only by handles within the same generator, which move together.
unsafe impl Send for Idle {}

/// The crate's unit of stack size: machine words, and an even number of them.
fn words(bytes: usize) -> usize {
    bytes.next_multiple_of(page_size()) / size_of::<usize>()
}

/// Lets the crate install its fault handler and its panic hook, on a thread that does not panic.
pub(super) fn initialise() {
    let mut first = Gn::<()>::new_scoped_local(|_: Scope<'_, '_, (), ()>| ());
    first.resume();
}

impl Portable {
    pub(super) fn new(
        stack: PortableStack,
        label: ThreadLabel,
        body: impl FnOnce() + 'static,
    ) -> Result<Self, StackError> {
        let (mut idle, ticket) = stack.take();
        // Placing a body that is larger than the stack panics; the body is dropped by the unwinding.
        let placed = catch_unwind(AssertUnwindSafe(|| {
            idle.generator
                .scoped_init(move |mut scope: StackfulScope<'_>| {
                    running::set_exit(NonNull::from(&mut scope).cast());
                    body();
                });
        }));
        match placed {
            Ok(()) => Ok(Self {
                state: State::new(label, idle.extent, Backend::Portable),
                idle: ManuallyDrop::new(idle),
                ticket: ManuallyDrop::new(ticket),
            }),
            Err(_) => Err(StackError::Refused(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the thread's closure is larger than its stack",
            ))),
        }
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    #[inline]
    pub(super) fn resume(&mut self) -> Step {
        let mounted = self.state.mount();
        self.idle.generator.resume();
        let done = self.idle.generator.is_done();
        mounted.unmount(if done {
            Step::Finished
        } else {
            Step::Suspended
        })
    }

    /// Drops a body that never ran, and gives the stack back. To be called once, as the last thing.
    pub(super) fn recycle(&mut self) {
        // SAFETY: `Continuation`'s drop calls this once and touches the backend no more.
        let mut idle = unsafe { ManuallyDrop::take(&mut self.idle) };
        // SAFETY: as above.
        let ticket = unsafe { ManuallyDrop::take(&mut self.ticket) };
        idle.generator.cancel();
        ticket.keep_finished(idle);
    }

    /// Keeps a stack with live frames for ever: generator and ticket stay undropped.
    pub(super) fn leak(&mut self) {
        self.ticket.count_leak();
    }
}

impl Idle {
    /// Maps one. On any OS thread.
    pub(super) fn map(stack_size: usize, guards: GuardKind) -> io::Result<Self> {
        // The crate panics when it is refused memory, and std aborts; better to have asked.
        if budget::address_space_is_limited() && !slab::has_room(stack_size + GUARD) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let generator = catch_unwind(|| {
            Gn::<()>::new_scoped_opt_local(words(stack_size + GUARD), |_: Scope<'_, '_, (), ()>| ())
        })
        .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        // The control block lies in the topmost page of the stack, so its address says where that ends.
        let length = generator.stack_usage().0 * size_of::<usize>();
        let control = generator.into_raw();
        let high = (control.addr() + 1).next_multiple_of(page_size());
        // SAFETY: the pointer was taken out of this very type just now.
        let generator = unsafe { Stackful::from_raw(control) };
        let low = high - length;
        let extent = Extent::new(low + GUARD, high, GUARD + page_size());
        // SAFETY: the lowest words of a mapped stack, which the crate has written.
        let watermark = unsafe { ptr::with_exposed_provenance::<Watermark>(low).read() };
        let mut generator = ManuallyDrop::new(generator);
        generator.cancel();
        // SAFETY: the low end of a stack on which nothing lives. The crate itself looks at it only when
        // the generator is dropped, and `Drop` opens it before.
        if let Err(refused) = unsafe { guards.close(low, GUARD) } {
            drop(ManuallyDrop::into_inner(generator));
            return Err(refused);
        }
        Ok(Self {
            generator,
            extent,
            watermark,
            guards,
        })
    }

    pub(super) fn stack_size(&self) -> usize {
        self.extent.usable().len()
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        let low = self.extent.usable().start - GUARD;
        // SAFETY: `map` closed it. If it does not open, the generator is left alone for ever.
        if unsafe { self.guards.open(low, GUARD) }.is_ok() {
            // SAFETY: open, mapped, and part of a stack nobody is on.
            unsafe { ptr::with_exposed_provenance_mut::<Watermark>(low).write(self.watermark) };
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.generator) };
        }
    }
}

/// Switches to whoever resumed this stack.
///
/// # Safety
///
/// `exit` is what the frame at the bottom of the caller's own stack gave to `set_exit`.
#[inline(always)]
pub(super) unsafe fn leave(exit: NonNull<()>) {
    // SAFETY: the scope lives at the bottom of the caller's own stack, below all its frames, and only
    // this function uses it.
    let scope = unsafe { exit.cast::<StackfulScope<'_>>().as_mut() };
    scope.yield_with(());
}

/// Prepares the process for stacks of this backend; idempotent.
pub(super) fn prepare() {
    fault::install_in_front_of(initialise);
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    #[test]
    fn sizes_are_converted_to_an_even_number_of_words() {
        for bytes in [1, 4095, 4096, 4097, 65_536, 200_000] {
            let words = words(bytes);
            assert_eq!(words % 2, 0, "an odd number of words switches tracking on");
            assert!(words * size_of::<usize>() >= bytes);
            assert!(words * size_of::<usize>() < bytes + page_size());
        }
    }

    /// The range and the access rights of the mapping an address lies in.
    fn mapping_of(address: usize) -> (Range<usize>, String) {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("procfs is mounted");
        let parse = |line: &str| {
            let mut words = line.split_whitespace();
            let (start, end) = words.next()?.split_once('-')?;
            let number = |text| usize::from_str_radix(text, 16).ok();
            Some((number(start)?..number(end)?, words.next()?.to_owned()))
        };
        maps.lines()
            .filter_map(parse)
            .find(|(range, _)| range.contains(&address))
            .expect("the address is mapped")
    }

    #[test]
    fn the_bounds_are_those_of_the_mapping() {
        prepare();
        let idle = Idle::map(100_000, GuardKind::detect()).expect("one small stack");
        let guard = idle.extent.guard();
        let stack = idle.extent.usable();
        assert_eq!(mapping_of(guard.start).1, "---p", "the crate's own guard");
        assert_eq!(mapping_of(guard.start).0.start, guard.start);
        assert_eq!(mapping_of(stack.start).1, "rw-p");
        assert!(mapping_of(stack.start).0.end >= stack.end);
        assert!(stack.len() >= 100_000);
    }
}
