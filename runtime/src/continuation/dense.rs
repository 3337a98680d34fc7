//! The dense backend: corosensei's switch on stacks of our own slabs.
//!
//! ```text
//!   high ├──────────────┤  end of the slot
//!        │ colour       │  0 to 960 bytes, so that hot lines of neighbours differ (slab.rs)
//!        │ Frame        │  the continuation's state, the switch's, and the stack's own handle
//!   base ├──────────────┤
//!        │ link, body   │  corosensei's words and the body until it starts
//!        │ live frames  │
//!        ┆      v       ┆
//!   low  ├──────────────┤
//!        │ guard        │
//! ```
//!
//! So a suspended thread is one page, and what `resume` needs lies in the page it switches to.
//!
//! **Invariant (own stack):** a [`Frame`] owns the stack it lies on. It is moved out before that goes
//! back to the pool, when no other frame is left. A suspended coroutine is never dropped, because
//! corosensei would unwind it.
#![expect(
    unsafe_code,
    reason = "promises corosensei that our slots are stacks, and keeps its state on them"
)]

use std::num::NonZeroUsize;
use std::ptr::{self, NonNull};

use corosensei::stack::{Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::pool::{DenseStack, StackError};
use super::running::{self, Backend, State};
use super::{Step, ThreadLabel};

/// Whether this target has the backend.
pub(super) const SUPPORTED: bool = true;

/// The largest body that is put on the stack itself; corosensei refuses more than 1,024 bytes.
const MAX_BODY_ON_STACK: usize = 512;

/// A body on a dense stack.
pub(super) struct Dense {
    frame: NonNull<Frame>,
}

/// What lies at the top of a stack in use: two lines of a cache.
#[repr(align(64))]
struct Frame {
    state: State,
    coroutine: Coroutine<(), (), (), Lent>,
    stack: DenseStack,
}

/// A stack that a [`Frame`] owns, as corosensei sees it.
struct Lent {
    base: StackPointer,
    limit: StackPointer,
}

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
        label: ThreadLabel,
        body: impl FnOnce() + 'static,
    ) -> Result<Self, StackError> {
        let (extent, top) = stack.prepare()?;
        let frame = ptr::with_exposed_provenance_mut::<Frame>(top.get() - size_of::<Frame>());
        let frame = NonNull::new(frame).expect("a stack does not end at address zero");
        let guard = NonZeroUsize::new(extent.guard().start);
        let lent = Lent {
            base: frame.addr(),
            limit: guard.expect("nor does its guard start there"),
        };
        let coroutine = if size_of_val(&body) <= MAX_BODY_ON_STACK {
            start(lent, body)
        } else {
            start(lent, Box::new(body))
        };
        let state = State::new(label, extent, Backend::Dense);
        // SAFETY: the range lies within the stack, above the base the coroutine was given, and is ours
        // by "slot ownership" (slab.rs). A multiple of the size below a multiple of 64 is aligned.
        unsafe {
            frame.write(Frame {
                state,
                coroutine,
                stack,
            });
        };
        Ok(Self { frame })
    }

    #[inline]
    pub(super) fn state(&self) -> &State {
        // SAFETY: the frame is there from `new` until `recycle` or `leak`, which are the last calls.
        unsafe { &(*self.frame.as_ptr()).state }
    }

    #[inline]
    pub(super) fn resume(&mut self) -> Step {
        let mounted = self.state().mount();
        // SAFETY: as in `state`. Nothing else refers to the coroutine: what runs on the stack knows only
        // the state.
        let coroutine = unsafe { &mut (*self.frame.as_ptr()).coroutine };
        mounted.unmount(match coroutine.resume(()) {
            CoroutineResult::Yield(()) => Step::Suspended,
            CoroutineResult::Return(()) => Step::Finished,
        })
    }

    /// Drops a body that never ran, and gives the stack back. To be called once, as the last thing.
    pub(super) fn recycle(&mut self) {
        // SAFETY: `Continuation`'s drop calls this once and touches the backend no more.
        let Frame {
            state,
            coroutine,
            stack,
        } = unsafe { self.frame.read() };
        drop((coroutine, state));
        // Now that no frame and no body is left on it.
        drop(stack);
    }

    /// Keeps a stack with live frames for ever.
    pub(super) fn leak(&mut self) {
        // SAFETY: as in `state`. The frame is never moved out after this, so it keeps stack and pool.
        let stack = unsafe { &(*self.frame.as_ptr()).stack };
        stack.count_leak();
    }
}

fn start(stack: Lent, body: impl FnOnce() + 'static) -> Coroutine<(), (), (), Lent> {
    Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
        running::set_exit(NonNull::from(yielder).cast());
        body();
    })
}

/// Switches to whoever resumed this stack.
///
/// # Safety
///
/// `exit` is what the frame at the bottom of the caller's own stack gave to `set_exit`.
#[inline(always)]
pub(super) unsafe fn leave(exit: NonNull<()>) {
    // SAFETY: the yielder lives at the bottom of the caller's own stack, below all its frames.
    let yielder = unsafe { exit.cast::<Yielder<(), ()>>().as_ref() };
    yielder.suspend(());
}
