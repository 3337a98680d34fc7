//! Scoped virtual threads that may borrow, in std's shape.
#![expect(
    unsafe_code,
    reason = "scoped threads borrow from the owner of the scope, which waits for them"
)]

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;

use parking_lot::Mutex;

use super::builder::Builder;
use super::handle::{wait_for_end, wait_for_end_lending};
use super::outcome::Packet;
use super::{Ended, VirtualThread, lent};
use crate::park::{Cancelled, Record};
use crate::primitive::{AtomicUsize, Ordering};
use crate::runtime::{Runtime, SpawnError};

/// What the threads of a scope share with its owner.
#[derive(Default)]
struct State {
    children: Mutex<Vec<Arc<Record>>>,
    /// Panics that no join has taken.
    untaken_panics: AtomicUsize,
}

/// A scope to spawn borrowing threads in; see [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    runtime: Runtime,
    state: Arc<State>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// The right to wait for a scoped thread's result.
pub struct ScopedJoinHandle<'scope, T> {
    packet: Packet<T>,
    state: Arc<State>,
    scope: PhantomData<&'scope ()>,
}

/// Runs `f`, which may spawn threads that borrow from the caller, and returns when all of them have ended.
///
/// ```
/// let numbers = vec![1, 2, 3];
/// let (sum, count) = vt_runtime::thread::scope(|s| {
///     let sum = s.spawn(|| numbers.iter().sum::<i32>());
///     let count = s.spawn(|| numbers.len());
///     (sum.join().unwrap(), count.join().unwrap())
/// });
/// assert_eq!((sum, count), (6, 3));
/// ```
///
/// # Pinning
///
/// Unmounts the calling virtual thread while it waits, unless that is pinned. This wait lends memory: neither an
/// interrupt nor a shutdown ends it. A shutdown that cancels the owner in `f` cancels the children as well. A child that
/// catches the unwinding of its cancellation and waits again never ends, and this wait neither: the child may have lent
/// on what it borrows.
///
/// # Panics
///
/// With the panic of `f`; or if a thread panicked whose handle was not joined, as in std.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let at = Location::caller();
    let scope = Scope {
        runtime: Runtime::here(),
        state: Arc::default(),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    if result
        .as_ref()
        .is_err_and(|payload| payload.is::<Cancelled>())
    {
        for child in scope.state.children.lock().iter() {
            child.cancel();
        }
    }
    // A child may spawn siblings until it has ended, so look again after each.
    loop {
        let next = scope.state.children.lock().pop();
        let Some(child) = next else { break };
        wait_for_end_lending(&child, at);
    }
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(_) if scope.state.untaken_panics.load(Ordering::Relaxed) > 0 => {
            panic!("a scoped thread panicked")
        }
        Ok(value) => value,
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a thread that ends before the scope does.
    ///
    /// # Panics
    ///
    /// If it is refused; [`spawn_with`](Self::spawn_with) returns the reason instead.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match self.spawn_with(Builder::new(), f) {
            Ok(handle) => handle,
            Err(error) => panic!("failed to spawn a virtual thread: {error}"),
        }
    }

    /// Spawns a thread with a name, a stack size or a place.
    ///
    /// # Errors
    ///
    /// If the thread is refused.
    pub fn spawn_with<F, T>(
        &'scope self,
        builder: Builder,
        f: F,
    ) -> Result<ScopedJoinHandle<'scope, T>, SpawnError>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        // Held over the spawn: the owner must find the child before it can end.
        let mut children = self.state.children.lock();
        let state = Arc::clone(&self.state);
        let then = move |panicked: bool| {
            if panicked {
                state.untaken_panics.fetch_add(1, Ordering::Relaxed);
            }
        };
        // SAFETY: the record goes into `children` before the lock is given back, and `scope` waits, lending, for each
        // of them before it returns or unwinds. A scope value cannot be had otherwise, nor outlive that wait.
        let packet: Packet<T> =
            unsafe { lent::spawn_lent(builder, self.runtime.shared(), f, then) }?;
        // Not for each: with very many children that would be all that a scope does.
        if children.len() == children.capacity() {
            children.retain(|child| !child.has_left());
            let live = children.len();
            children.reserve(live.max(4));
        }
        children.push(Arc::clone(packet.thread.record()));
        Ok(ScopedJoinHandle {
            packet,
            state: Arc::clone(&self.state),
            scope: PhantomData,
        })
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread's end and returns its result, or the payload of its panic.
    ///
    /// # Pinning
    ///
    /// Unmounts the calling virtual thread while it waits, unless that is pinned.
    ///
    /// # Errors
    ///
    /// The panic's payload.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        wait_for_end(self.thread().record(), false, Location::caller());
        let result = self.packet.take();
        if matches!(result, Some(Err(_))) {
            // Counted before the thread ended.
            self.state.untaken_panics.fetch_sub(1, Ordering::Relaxed);
        }
        result.unwrap_or_else(|| Err(Box::new(Ended)))
    }

    /// Has the thread ended?
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread().record().has_ended()
    }

    /// The thread itself.
    #[must_use]
    pub fn thread(&self) -> &VirtualThread {
        &self.packet.thread
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("children", &self.state.children.lock().len())
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle")
            .field("thread", self.thread())
            .finish_non_exhaustive()
    }
}
