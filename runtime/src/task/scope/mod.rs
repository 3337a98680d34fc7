//! [`TaskScope`]: subtasks that fail and end together.
//!
//! ```text
//!   all_or_fail(|s| ..)          the first failure cancels the rest and is the result
//!   any_success(|s| ..)          the first success cancels the rest and is the result
//!   collect(|s| ..)              each outcome, in the order of forking
//!   collect_until(p, |s| ..)     the same, and the rest is cancelled when `p` likes an outcome
//! ```
//!
//! **Invariant (ends together):** a scope returns, or unwinds, after all its subtasks have ended. It stands on
//! [`crate::thread::scope`], which lends memory to them.
//!
//! **Invariant (one end):** whatever ends a scope early does it once, with a reason. Subtasks that have started are
//! interrupted; those that have not, forked before or after, never begin.

mod all_or_fail;
mod any_success;
mod cancellation;
mod collect;
mod error;
mod tree;

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

pub use all_or_fail::{AllOrFail, Subtask};
pub use any_success::AnySuccess;
pub(super) use cancellation::Cancellation;
pub use collect::Collect;
pub use error::{CancelReason, TaskError};
pub use tree::ThreadTree;

use super::scoped_value::{self, Binding, Bound};
use super::storage;
use crate::park::Cancelled;
use crate::sync::CountDownLatch;
use crate::thread::{self, Builder, Scope, ScopedJoinHandle};

/// Subtasks, each a virtual thread, that fail and end together; it is had inside [`all_or_fail`](Self::all_or_fail),
/// [`any_success`](Self::any_success) or [`collect`](Self::collect), and says by its type `K` which.
///
/// A clone is the same scope: move one into a subtask that shall fork siblings.
pub struct TaskScope<'scope, 'env: 'scope, K> {
    threads: &'scope Scope<'scope, 'env>,
    shared: Arc<Shared>,
    kind: Arc<K>,
}

/// What does not depend on what the subtasks return.
struct Shared {
    cancellation: Arc<Cancellation>,
    /// The first panic of a subtask.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    bindings: Option<Arc<Binding>>,
    /// The closure and the subtasks that have not ended.
    alive: AtomicUsize,
    /// Opens when none is alive, for who watches the clock.
    end: CountDownLatch,
}

/// Counts as alive until dropped.
struct Alive(Arc<Shared>);

impl Alive {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.alive.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(shared))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        if self.0.alive.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.end.count_down();
        }
    }
}

/// How a subtask ended.
enum Ended<T> {
    Returned(T),
    Panicked,
    /// It was cancelled before it began.
    NeverBegan(CancelReason),
}

/// Opens a scope of that kind around `body` and waits for its end; returns what `body` did, and the scope.
#[track_caller]
fn open<'env, K, R>(
    kind: Arc<K>,
    body: impl for<'scope> FnOnce(&TaskScope<'scope, 'env, K>) -> R,
) -> (R, Arc<Shared>) {
    let outer = storage::peek(|storage| storage.cancellation.clone());
    let shared = Arc::new(Shared {
        cancellation: Cancellation::inside(outer.as_ref()),
        panic: Mutex::new(None),
        bindings: scoped_value::bindings(),
        alive: AtomicUsize::new(0),
        end: CountDownLatch::new(1),
    });
    let alive = Alive::new(&shared);
    let ended = thread::scope(|threads| {
        let scope = TaskScope {
            threads,
            shared: Arc::clone(&shared),
            kind,
        };
        let ended = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        if ended.is_err() {
            shared.cancellation.cancel(&CancelReason::OwnerPanicked);
        }
        drop(alive);
        ended
    });
    let panicked = shared.panic.lock().take();
    match (ended, panicked) {
        (Err(payload), _) | (Ok(_), Some(payload)) => resume_unwind(payload),
        (Ok(result), None) => (result, shared),
    }
}

impl<'scope, 'env, K> TaskScope<'scope, 'env, K> {
    /// Cancels the scope, once: subtasks that wait are interrupted, those that have not begun never do.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn cancel(&self, reason: &'static str) {
        self.shared
            .cancellation
            .cancel(&CancelReason::Requested(reason));
    }

    /// Why the scope was cancelled, if it was. A subtask that computes for long looks here from time to time.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn cancel_reason(&self) -> Option<CancelReason> {
        self.shared.cancellation.reason()
    }

    /// Cancels the scope at that moment if it still runs then.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn deadline(&self, deadline: Instant) {
        let shared = Arc::clone(&self.shared);
        self.threads.spawn(move || {
            let left = deadline.saturating_duration_since(Instant::now());
            // Interrupts are not for this thread, so only the end of the scope and the clock count.
            if !shared.end.wait_timeout(left) {
                shared.cancellation.cancel(&CancelReason::Deadline);
            }
        });
    }

    /// [`deadline`](Self::deadline), from now.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn timeout(&self, timeout: Duration) {
        if let Some(deadline) = Instant::now().checked_add(timeout) {
            self.deadline(deadline);
        }
    }

    /// Starts a subtask that runs `f` and gives its end to `report`, on its own thread.
    #[track_caller]
    fn fork<T>(
        &self,
        builder: Builder,
        f: impl FnOnce() -> T + Send + 'scope,
        report: impl FnOnce(Ended<T>) + Send + 'scope,
    ) -> Option<ScopedJoinHandle<'scope, ()>> {
        if let Some(reason) = self.shared.cancellation.reason() {
            drop(f);
            report(Ended::NeverBegan(reason));
            return None;
        }
        let alive = Alive::new(&self.shared);
        let body = move || {
            let shared = Arc::clone(&alive.0);
            let member = match shared.cancellation.enroll(thread::current()) {
                Ok(member) => member,
                Err(reason) => {
                    drop(f);
                    return report(Ended::NeverBegan(reason));
                }
            };
            let cancellation = Some(Arc::clone(&shared.cancellation));
            storage::of_this_thread(|storage| storage.cancellation = cancellation);
            let bound = Bound::to(shared.bindings.clone(), None);
            let ended = catch_unwind(AssertUnwindSafe(f));
            drop((bound, member));
            match ended {
                Ok(value) => report(Ended::Returned(value)),
                // The runtime shuts down and unwinds this thread.
                Err(payload) if payload.is::<Cancelled>() => resume_unwind(payload),
                Err(payload) => {
                    shared.panic.lock().get_or_insert(payload);
                    shared.cancellation.cancel(&CancelReason::SubtaskPanicked);
                    report(Ended::Panicked);
                }
            }
        };
        match self.threads.spawn_with(builder, body) {
            Ok(handle) => Some(handle),
            Err(error) => panic!("failed to spawn a virtual thread for a subtask: {error}"),
        }
    }
}

impl<K> Clone for TaskScope<'_, '_, K> {
    fn clone(&self) -> Self {
        Self {
            threads: self.threads,
            shared: Arc::clone(&self.shared),
            kind: Arc::clone(&self.kind),
        }
    }
}

impl<K> fmt::Debug for TaskScope<'_, '_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskScope")
            .field("cancelled", &self.cancel_reason())
            .finish_non_exhaustive()
    }
}
