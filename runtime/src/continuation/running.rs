//! Which continuation runs on this OS thread: the one thread-local of the stack layer.
//!
//! **Invariant (mounted is alive):** `CURRENT` is null or points to the [`Running`] of a continuation
//! whose `resume` has not returned. [`mount`] sets it from a reference that lives at least as long as
//! the [`Mounted`] guard, and the guard's drop puts back what was there before.
//!
//! The fault handler reads this module from signal context: everything it reaches is plain memory, set
//! before the switch and left alone until the switch back.
#![expect(
    unsafe_code,
    reason = "the thread-local holds a pointer into the resume that is under way"
)]

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;

use super::extent::Extent;
use super::{ThreadLabel, dense, portable};

/// What is known of a continuation while it runs.
pub(super) struct Running {
    label: ThreadLabel,
    extent: Extent,
    exit: Cell<Exit>,
}

/// The way off the stack. A backend's entry function sets it at the first mount.
#[derive(Clone, Copy)]
pub(super) enum Exit {
    /// Not entered yet.
    Unknown,
    Dense(dense::Exit),
    Portable(portable::Exit),
}

thread_local! {
    // Const and without a destructor: readable from a signal handler and at any point of thread exit.
    static CURRENT: Cell<*const Running> = const { Cell::new(ptr::null()) };
}

/// Not inlined, so that no caller keeps the address of the thread-local over a switch.
#[inline(never)]
fn current() -> *const Running {
    CURRENT.get()
}

impl Running {
    pub(super) fn new(label: ThreadLabel, extent: Extent) -> Self {
        Self {
            label,
            extent,
            exit: Cell::new(Exit::Unknown),
        }
    }

    pub(super) fn label(&self) -> &ThreadLabel {
        &self.label
    }

    pub(super) fn extent(&self) -> Extent {
        self.extent
    }
}

/// Makes `running` the current one until the guard is dropped.
#[inline]
pub(super) fn mount(running: &Running) -> Mounted<'_> {
    Mounted {
        before: CURRENT.replace(running),
        running: PhantomData,
    }
}

/// While it lives, a continuation is mounted on this OS thread.
pub(super) struct Mounted<'a> {
    before: *const Running,
    running: PhantomData<&'a Running>,
}

impl Drop for Mounted<'_> {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// Reads the mounted continuation, if there is one.
pub(super) fn with_current<R>(read: impl FnOnce(Option<&Running>) -> R) -> R {
    // SAFETY: "mounted is alive": the pointer is null or valid until the resume under way returns, and
    // that needs this call to return first, because it runs on that continuation's stack or above it.
    read(unsafe { current().as_ref() })
}

/// Tells the mounted continuation how to leave its stack.
pub(super) fn set_exit(exit: Exit) {
    with_current(|running| {
        running
            .expect("a stack is entered only by resume")
            .exit
            .set(exit);
    });
}

/// Leaves the stack of the mounted continuation; returns at its next `resume`.
///
/// # Panics
///
/// When no continuation is mounted on this OS thread.
pub(crate) fn suspend() {
    let exit = with_current(|running| running.map(|running| running.exit.get()));
    match exit {
        // SAFETY: an exit is set by the frame at the bottom of the mounted stack, which is alive until
        // the body returns; we run above it.
        Some(Exit::Dense(exit)) => unsafe { exit.leave() },
        // SAFETY: as above.
        Some(Exit::Portable(exit)) => unsafe { exit.leave() },
        Some(Exit::Unknown) | None => panic!("suspend was called outside a continuation"),
    }
}

/// The addresses of the mounted continuation's stack, without its guard.
pub(crate) fn stack_bounds() -> Option<Range<usize>> {
    with_current(|running| running.map(|running| running.extent.usable()))
}
