//! Whether a call is to be looked at.
//!
//! **Invariant (signal-safe):** a trap may run in a signal handler that interrupts anything, so what it asks here is
//! atomics, thread-locals without destructors, and system calls. No lock, no allocation.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many want to know.
static WATCHING: AtomicU32 = AtomicU32::new(0);

/// The process that is watched. Children made by `vfork` share its memory and must not write to it.
static PROCESS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// A call that is trapped already is under way.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

thread_local! {
    /// Regions of `allow` by the thread that is in them, since its neighbours on the carrier are not.
    static ALLOWED: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
}

/// While one lives, calls are trapped.
pub(crate) struct Watching(());

impl Watching {
    pub(crate) fn begin() -> Self {
        PROCESS.store(std::process::id(), Ordering::Relaxed);
        WATCHING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        WATCHING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// While one lives, the calling thread's calls are not trapped. A virtual thread that waits in it is asked for by number, so
/// that others of its carrier are.
pub(crate) struct Allowed(u64);

impl Allowed {
    pub(crate) fn enter() -> Self {
        let me = vt_runtime::__private::undeclared_thread();
        let (thread, depth) = ALLOWED.get();
        ALLOWED.set((me, if thread == me { depth + 1 } else { 1 }));
        Self(me)
    }
}

impl Drop for Allowed {
    fn drop(&mut self) {
        let (thread, depth) = ALLOWED.get();
        if thread == self.0 {
            ALLOWED.set(if depth > 1 {
                (thread, depth - 1)
            } else {
                (0, 0)
            });
        }
    }
}

/// A call that is looked at; ends with its drop.
pub(crate) struct Watched {
    /// The virtual thread that makes it.
    pub(crate) thread: u64,
}

impl Watched {
    /// One load where nobody watches, one more thread-local off the carriers.
    #[inline]
    pub(crate) fn begin() -> Option<Self> {
        if WATCHING.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let thread = vt_runtime::__private::undeclared_thread();
        if thread == 0 || INSIDE.get() || ALLOWED.get().0 == thread {
            return None;
        }
        if std::process::id() != PROCESS.load(Ordering::Relaxed) {
            return None;
        }
        INSIDE.set(true);
        Some(Self { thread })
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}
