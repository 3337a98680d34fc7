//! The suspended stack of a virtual thread: how it is made, mounted, suspended and given back.
//!
//! This folder is the only place that names the two backends, and the only one that owns stack memory.
//!
//! ```text
//!  StackPool::reserve ──> Reservation ──> Continuation::new ──> resume ⇄ suspend ──> Finished
//!   any thread             a place,         on the carrier       Step::Suspended       stack goes
//!   (admission)            Send             that runs it         until it returns      back to the pool
//! ```
//!
//! Two backends, chosen when a pool is made:
//! - `dense`: corosensei on stacks cut from our own slabs; no mapping per stack where the kernel has
//!   lightweight guards.
//! - `portable`: the `generator` crate; two mappings per stack.
//!
//! **Invariant (affinity):** a [`Continuation`] never leaves the OS thread that made it (`!Send`). What
//! its frames borrowed from thread-locals stays valid, and a compiler may cache their addresses.
//!
//! **Invariant (no live stack is lost):** the stack of a suspended continuation holds live frames. It is
//! never unmapped, never reused and never unwound from here: dropping such a continuation leaks it, and
//! [`StackPool::leaked`] counts it.
//!
//! **Invariant (no unwind crosses the seam):** a body that unwinds aborts the process; whoever makes the
//! continuation catches panics inside its body.
//!
//! Must not: know about scheduling, parking, events or pins.

mod aging;
mod budget;
#[cfg_attr(
    not(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )),
    path = "dense_absent.rs"
)]
mod dense;
mod extent;
mod fault;
mod guard;
mod places;
mod pool;
mod portable;
mod running;
mod slab;
mod store;

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

pub(crate) use extent::stack_used;
pub(crate) use fault::install_fault_handler;
pub(crate) use pool::{Reservation, StackError, StackPool};
pub(crate) use running::{Way, prefetch_value, stack_bounds, suspend, way_off};

use dense::Dense;
use pool::Place;
use portable::Portable;
use running::{Phase, State};

/// Which backend gives virtual threads their stacks.
///
/// Set by `Runtime::builder().stacks(..)` or by `VT_STACKS` (`dense` or `generator`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stacks {
    /// Stacks cut from large slabs: a million fit on stock kernel settings. Linux on x86-64 and aarch64;
    /// elsewhere it means the same as [`Stacks::Generator`].
    Dense,
    /// The portable `generator` crate: two memory mappings per stack, so about 32,000 live threads on
    /// stock Linux settings.
    Generator,
}

impl Default for Stacks {
    /// [`Stacks::Dense`] where it is supported, else [`Stacks::Generator`].
    fn default() -> Self {
        if dense::SUPPORTED {
            Self::Dense
        } else {
            Self::Generator
        }
    }
}

impl fmt::Display for Stacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dense => "dense",
            Self::Generator => "generator",
        })
    }
}

impl FromStr for Stacks {
    type Err = ParseStacksError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "dense" => Ok(Self::Dense),
            "generator" => Ok(Self::Generator),
            other => Err(ParseStacksError(other.to_owned())),
        }
    }
}

/// The text is not the name of a [`Stacks`] backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseStacksError(String);

impl fmt::Display for ParseStacksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown stack backend `{}`: use `dense` or `generator`",
            self.0
        )
    }
}

impl std::error::Error for ParseStacksError {}

/// Bytes of stack a virtual thread has when nobody says otherwise. With its guard it fills a slot of
/// 256 KiB less a page, so that eight threads share a page of page tables.
pub(crate) const DEFAULT_STACK_SIZE: usize = (256 << 10) - guard::GUARD - (4 << 10);

/// Who runs on a stack: what the report of an overflow prints.
#[derive(Clone, Debug)]
pub(crate) struct ThreadLabel {
    /// The number in `#21`.
    pub(crate) id: u64,
    /// The name, if the thread has one.
    pub(crate) name: Option<Arc<str>>,
}

/// What a call of [`Continuation::resume`] came back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Step {
    /// The body called [`suspend`]: its stack waits for the next `resume`.
    Suspended,
    /// The body returned: the stack is empty.
    Finished,
}

/// One virtual thread's stack with the frames that wait on it.
pub(crate) struct Continuation {
    backend: Backend,
}

enum Backend {
    Dense(Dense),
    Portable(Box<Portable>),
}

impl Continuation {
    /// Puts `body` on the reserved stack. To be called on the OS thread that will resume it.
    ///
    /// # Errors
    ///
    /// When the system gives no guard, or `body` is larger than a stack of the `generator` backend; `body` is dropped.
    pub(crate) fn new<F>(
        reservation: Reservation,
        label: ThreadLabel,
        body: F,
    ) -> Result<Self, StackError>
    where
        F: FnOnce() + 'static,
    {
        fault::prepare_os_thread();
        let body = move || {
            let bomb = AbortOnUnwind;
            body();
            std::mem::forget(bomb);
        };
        let backend = match reservation.into_place() {
            Place::Dense(stack) => Backend::Dense(Dense::new(stack, label, body)?),
            Place::Portable(stack) => {
                Backend::Portable(Box::new(Portable::new(stack, label, body)?))
            }
        };
        Ok(Self { backend })
    }

    /// Mounts the continuation: runs its body until it suspends or returns.
    ///
    /// # Panics
    ///
    /// When it has finished already.
    #[inline]
    pub(crate) fn resume(&mut self) -> Step {
        match &mut self.backend {
            Backend::Dense(dense) => dense.resume(),
            Backend::Portable(portable) => portable.resume(),
        }
    }

    /// Asks the cache for what the next [`resume`](Self::resume) reads first.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_value(self.state());
    }

    /// Asks the cache for the frames that the next [`resume`](Self::resume) returns to. Reads what
    /// [`prefetch`](Self::prefetch) asked for.
    #[inline]
    pub(crate) fn prefetch_frames(&self) {
        self.state().prefetch_frames();
    }

    /// Where its frames may be.
    pub(crate) fn bounds(&self) -> Range<usize> {
        self.state().extent().usable()
    }

    fn state(&self) -> &State {
        match &self.backend {
            Backend::Dense(dense) => dense.state(),
            Backend::Portable(portable) => portable.state(),
        }
    }
}

impl Drop for Continuation {
    fn drop(&mut self) {
        match (self.state().phase(), &mut self.backend) {
            (Phase::Fresh | Phase::Finished, Backend::Dense(dense)) => dense.recycle(),
            (Phase::Fresh | Phase::Finished, Backend::Portable(portable)) => portable.recycle(),
            // Live frames may be borrowed from elsewhere and own what others wait for; only their own
            // destructors may end them, and those ran if the thread could be cancelled.
            (Phase::Suspended, Backend::Dense(dense)) => dense.leak(),
            (Phase::Suspended, Backend::Portable(portable)) => portable.leak(),
            (Phase::Mounted, _) => std::process::abort(),
        }
    }
}

/// Aborts when dropped: an unwinding body must not reach the frames below it, which belong to a backend.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        eprintln!("fatal runtime error: a panic left the body of a virtual thread");
        std::process::abort();
    }
}
