//! The state of a continuation, and which one runs on this OS thread: the one thread-local of the stack
//! layer.
//!
//! **Invariant (mounted is alive):** `CURRENT` is null or points to the [`State`] of a continuation whose
//! `resume` has not returned. [`State::mount`] sets it from a reference that lives at least as long as
//! the [`Mounted`] guard, and the guard puts back what was there before.
//!
//! The fault handler reads this module from signal context: everything it reaches is plain memory, set
//! before the switch and left alone until the switch back.
#![expect(
    unsafe_code,
    reason = "the thread-local holds a pointer into the resume that is under way"
)]

use std::cell::Cell;
use std::ops::Range;
use std::ptr::{self, NonNull};

use super::extent::Extent;
use super::{Step, ThreadLabel, dense, portable};

/// Where a continuation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Made, never resumed: the stack holds nothing but the body.
    Fresh,
    /// Inside `resume`.
    Mounted,
    /// Live frames wait on the stack.
    Suspended,
    /// The body returned.
    Finished,
}

/// Which backend's frames are on the stack.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backend {
    Dense,
    Portable,
}

/// What is known of a continuation.
pub(super) struct State {
    label: ThreadLabel,
    extent: Extent,
    /// The way off the stack, in the backend's own terms; set by its entry function.
    exit: Cell<Option<NonNull<()>>>,
    /// About where its innermost frame is, while it is suspended.
    innermost: Cell<usize>,
    backend: Backend,
    phase: Cell<Phase>,
}

thread_local! {
    // Const and without a destructor: readable from a signal handler and at any point of thread exit.
    static CURRENT: Cell<*const State> = const { Cell::new(ptr::null()) };
}

/// Not inlined, so that no caller keeps the address of the thread-local over a switch.
#[inline(never)]
fn current() -> *const State {
    CURRENT.get()
}

impl State {
    pub(super) fn new(label: ThreadLabel, extent: Extent, backend: Backend) -> Self {
        Self {
            label,
            extent,
            exit: Cell::new(None),
            innermost: Cell::new(extent.usable().end),
            backend,
            phase: Cell::new(Phase::Fresh),
        }
    }

    pub(super) fn label(&self) -> &ThreadLabel {
        &self.label
    }

    pub(super) fn extent(&self) -> Extent {
        self.extent
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// Makes this the current continuation of the OS thread, until [`Mounted::unmount`].
    ///
    /// # Panics
    ///
    /// When it has finished.
    #[inline]
    pub(super) fn mount(&self) -> Mounted<'_> {
        let phase = self.phase.replace(Phase::Mounted);
        assert!(
            matches!(phase, Phase::Fresh | Phase::Suspended),
            "a continuation was resumed that is {phase:?}"
        );
        Mounted {
            before: CURRENT.replace(self),
            state: self,
        }
    }
}

impl State {
    /// Asks the cache for the innermost frames.
    #[inline]
    pub(super) fn prefetch_frames(&self) {
        const LINES: usize = 5;
        let innermost = self.innermost.get();
        for line in 0..LINES {
            prefetch(ptr::without_provenance::<u8>(innermost + line * CACHE_LINE));
        }
    }
}

/// Bytes that a cache loads at once.
const CACHE_LINE: usize = 64;

/// Asks the cache for the first two lines of a value that will be used soon.
///
/// A switch among many threads touches memory that no cache holds any more, and a page whose address has to be
/// looked up as well; asked for a few mounts early, both are there in time.
#[inline]
pub(crate) fn prefetch_value<T>(value: &T) {
    let at = ptr::from_ref(value).cast::<u8>();
    prefetch(at);
    if size_of::<T>() > CACHE_LINE {
        prefetch(at.wrapping_add(CACHE_LINE));
    }
}

#[inline]
fn prefetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which reads nothing and does not fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    // No stable name for the hint elsewhere.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// While it lives, a continuation is mounted on this OS thread.
pub(super) struct Mounted<'a> {
    before: *const State,
    state: &'a State,
}

impl Mounted<'_> {
    #[inline]
    pub(super) fn unmount(self, step: Step) -> Step {
        self.state.phase.set(match step {
            Step::Suspended => Phase::Suspended,
            Step::Finished => Phase::Finished,
        });
        step
    }
}

impl Drop for Mounted<'_> {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// Reads the mounted continuation, if there is one.
pub(super) fn with_current<R>(read: impl FnOnce(Option<&State>) -> R) -> R {
    // SAFETY: "mounted is alive": the pointer is null or valid until the resume under way returns, and
    // that needs this call to return first, because it runs on that continuation's stack or above it.
    read(unsafe { current().as_ref() })
}

/// Tells the mounted continuation how to leave its stack.
pub(super) fn set_exit(exit: NonNull<()>) {
    with_current(|state| {
        state
            .expect("a stack is entered only by resume")
            .exit
            .set(Some(exit));
    });
}

/// The way off the stack of the mounted continuation, to be [taken](Way::take) at once.
#[must_use]
pub(crate) struct Way {
    backend: Backend,
    exit: NonNull<()>,
}

/// Finds the way off the stack of the mounted continuation; `None` when none is mounted on this OS thread.
#[inline]
pub(crate) fn way_off() -> Option<Way> {
    let here = 0_u8;
    with_current(|state| {
        let state = state?;
        state.innermost.set((&raw const here).addr());
        Some(Way {
            backend: state.backend,
            exit: state.exit.get()?,
        })
    })
}

impl Way {
    /// Leaves the stack; returns at the next `resume` of its continuation.
    ///
    /// Inlined up to where the caller can do without a return: after a switch of stacks each is predicted wrongly.
    #[inline(always)]
    pub(crate) fn take(self) {
        match self.backend {
            // SAFETY: an exit is set by the frame at the bottom of the mounted stack, in its backend's terms;
            // that frame is alive until the body returns, and we run above it: a way is taken where it was found.
            Backend::Dense => unsafe { dense::leave(self.exit) },
            // SAFETY: as above.
            Backend::Portable => unsafe { portable::leave(self.exit) },
        }
    }
}

/// Leaves the stack of the mounted continuation; returns at its next `resume`.
///
/// # Panics
///
/// When no continuation is mounted on this OS thread.
#[inline(always)]
pub(crate) fn suspend() {
    match way_off() {
        Some(way) => way.take(),
        None => panic!("suspend was called outside a continuation"),
    }
}

/// The addresses of the mounted continuation's stack, without its guard.
pub(crate) fn stack_bounds() -> Option<Range<usize>> {
    with_current(|state| state.map(|state| state.extent.usable()))
}
