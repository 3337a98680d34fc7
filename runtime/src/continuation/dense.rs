//! The dense backend: corosensei's switch on stacks of our own slabs.
//!
//! **Invariant (own stack):** a [`Dense`] owns its [`DenseStack`] for as long as the coroutine on it
//! exists. The stack goes back to the pool after the coroutine, when no frame is left; a suspended
//! coroutine is never dropped (see `leak`), because corosensei would unwind it.
#![expect(
    unsafe_code,
    reason = "promises corosensei that our slots are stacks, and switches stacks"
)]

use std::mem::ManuallyDrop;
use std::num::NonZeroUsize;

use corosensei::stack::{Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::extent::Extent;
use super::pool::{DenseStack, StackError};
use super::{Step, running};

/// Whether this target has the backend.
pub(super) const SUPPORTED: bool = true;

/// The largest body that is put on the stack itself; corosensei refuses more than 1,024 bytes.
const MAX_BODY_ON_STACK: usize = 512;

/// A body on a dense stack.
pub(super) struct Dense {
    coroutine: ManuallyDrop<Coroutine<(), (), (), Lent>>,
    stack: ManuallyDrop<DenseStack>,
}

/// A stack that [`Dense`] owns, as corosensei sees it.
struct Lent {
    base: StackPointer,
    limit: StackPointer,
}

/// The yielder at the bottom of the mounted stack.
#[derive(Clone, Copy)]
pub(super) struct Exit(*const Yielder<(), ()>);

// SAFETY: made only by `Dense::new`, from a slot: mapped, aligned to a cache line at both ends, larger
// than 48 KiB, and "guarded" (slab.rs); "own stack" keeps it for the coroutine.
unsafe impl Stack for Lent {
    #[inline]
    fn base(&self) -> StackPointer {
        self.base
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.limit
    }
}

impl Dense {
    pub(super) fn new(
        mut stack: DenseStack,
        body: impl FnOnce() + 'static,
    ) -> Result<(Extent, Self), StackError> {
        let (extent, base) = stack.prepare()?;
        // The guard starts where the slot does, and no slot lies at address zero.
        let limit = NonZeroUsize::new(extent.guard().start).unwrap_or(NonZeroUsize::MIN);
        let lent = Lent { base, limit };
        let coroutine = if size_of_val(&body) <= MAX_BODY_ON_STACK {
            start(lent, body)
        } else {
            start(lent, Box::new(body))
        };
        let dense = Self {
            coroutine: ManuallyDrop::new(coroutine),
            stack: ManuallyDrop::new(stack),
        };
        Ok((extent, dense))
    }

    #[inline]
    pub(super) fn resume(&mut self) -> Step {
        match self.coroutine.resume(()) {
            CoroutineResult::Yield(()) => Step::Suspended,
            CoroutineResult::Return(()) => Step::Finished,
        }
    }

    /// Drops a body that never ran, and gives the stack back. To be called once, as the last thing.
    pub(super) fn recycle(&mut self) {
        // SAFETY: `Continuation`'s drop calls this once and touches the backend no more.
        unsafe { ManuallyDrop::drop(&mut self.coroutine) };
        // SAFETY: as above; the coroutine is gone, so no frame is left.
        unsafe { ManuallyDrop::drop(&mut self.stack) };
    }

    /// Keeps a stack with live frames for ever.
    pub(super) fn leak(&mut self) {
        // SAFETY: as in `recycle`. The coroutine stays inside its `ManuallyDrop`.
        unsafe { ManuallyDrop::take(&mut self.stack) }.leak();
    }
}

fn start(stack: Lent, body: impl FnOnce() + 'static) -> Coroutine<(), (), (), Lent> {
    Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
        running::set_exit(running::Exit::Dense(Exit(yielder)));
        body();
    })
}

impl Exit {
    /// Switches to whoever resumed this stack.
    ///
    /// # Safety
    ///
    /// The caller runs on the stack this exit belongs to.
    #[inline]
    pub(super) unsafe fn leave(self) {
        // SAFETY: the yielder lives at the bottom of the caller's own stack, below all its frames.
        unsafe { &*self.0 }.suspend(());
    }
}
