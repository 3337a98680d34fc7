//! Scopes that need all their subtasks.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{CancelReason, Ended, TaskError, TaskScope, open};
use crate::thread::{Builder, ScopedJoinHandle};

/// The kind of [`TaskScope::all_or_fail`].
#[derive(Debug)]
pub struct AllOrFail<E> {
    failure: Mutex<Option<E>>,
}

/// The right to the value of a subtask of [`TaskScope::all_or_fail`].
#[derive(Debug)]
pub struct Subtask<'scope, T> {
    /// `None` if it was never started.
    thread: Option<ScopedJoinHandle<'scope, ()>>,
    outcome: Arc<Mutex<Option<Result<T, Missing>>>>,
}

/// Why there is no value.
#[derive(Debug)]
enum Missing {
    Cancelled(CancelReason),
    Panicked,
}

impl TaskScope<'_, '_, ()> {
    /// Runs `body`, which forks subtasks that are all needed. The first that fails cancels the rest, and its error
    /// is the result; so is [`TaskError::Cancelled`] after a [`deadline`](TaskScope::deadline) or
    /// [`cancel`](TaskScope::cancel). Otherwise the result is what `body` returns; if that is an error, the
    /// subtasks are cancelled.
    ///
    /// ```
    /// use vt_runtime::task::{TaskError, TaskScope};
    ///
    /// let sum = TaskScope::all_or_fail(|s| {
    ///     let one = s.spawn(|| "1".parse::<i32>());
    ///     let two = s.spawn(|| "2".parse::<i32>());
    ///     Ok(one.join()? + two.join()?)
    /// });
    /// assert_eq!(sum, Ok(3));
    ///
    /// let failed = TaskScope::all_or_fail(|s| {
    ///     let one = s.spawn(|| "one".parse::<i32>());
    ///     Ok(one.join()?)
    /// });
    /// assert!(matches!(failed, Err(TaskError::Failed(_))));
    /// ```
    ///
    /// # Pinning
    ///
    /// Unmounts the calling virtual thread while it waits for the end, unless that is pinned. Neither an interrupt
    /// nor a shutdown ends this wait, because the subtasks may borrow from the caller.
    ///
    /// # Errors
    ///
    /// As told above.
    ///
    /// # Panics
    ///
    /// With the panic of `body`, or of the first subtask that panicked, after all have ended.
    #[track_caller]
    pub fn all_or_fail<'env, R, E: Send>(
        body: impl for<'scope> FnOnce(&TaskScope<'scope, 'env, AllOrFail<E>>) -> Result<R, TaskError<E>>,
    ) -> Result<R, TaskError<E>> {
        let kind = Arc::new(AllOrFail {
            failure: Mutex::new(None),
        });
        let (result, shared) = open(Arc::clone(&kind), |scope| {
            let result = body(scope);
            if result.is_err() {
                scope.shared.cancellation.cancel(&CancelReason::OwnerFailed);
            }
            result
        });
        if let Some(error) = kind.failure.lock().take() {
            return Err(TaskError::Failed(error));
        }
        match (result, shared.cancellation.reason()) {
            (Ok(_), Some(reason)) => Err(TaskError::Cancelled(reason)),
            (result, _) => result,
        }
    }
}

impl<'scope, E: Send + 'scope> TaskScope<'scope, '_, AllOrFail<E>> {
    /// Forks a subtask.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Panics
    ///
    /// If the runtime refuses the thread.
    #[track_caller]
    pub fn spawn<T, F>(&self, f: F) -> Subtask<'scope, T>
    where
        F: FnOnce() -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_with(Builder::new(), f)
    }

    /// Forks a subtask on a thread with a name, a stack size or a place.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Panics
    ///
    /// If the runtime refuses the thread.
    #[track_caller]
    pub fn spawn_with<T, F>(&self, builder: Builder, f: F) -> Subtask<'scope, T>
    where
        F: FnOnce() -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
    {
        let outcome = Arc::new(Mutex::new(None));
        let (theirs, kind) = (Arc::clone(&outcome), Arc::clone(&self.kind));
        let shared = Arc::clone(&self.shared);
        let report = move |ended: Ended<Result<T, E>>| {
            let result = match ended {
                Ended::Returned(Ok(value)) => Ok(value),
                Ended::Returned(Err(error)) => {
                    kind.keep_first(error);
                    shared.cancellation.cancel(&CancelReason::SubtaskFailed);
                    Err(Missing::Cancelled(CancelReason::SubtaskFailed))
                }
                Ended::Panicked => Err(Missing::Panicked),
                Ended::NeverBegan(reason) => Err(Missing::Cancelled(reason)),
            };
            *theirs.lock() = Some(result);
        };
        Subtask {
            thread: self.fork(builder, f, report),
            outcome,
        }
    }
}

impl<E> AllOrFail<E> {
    /// The first error is the scope's; the others are dropped, outside the lock.
    fn keep_first(&self, error: E) {
        let mut failure = self.failure.lock();
        if failure.is_none() {
            *failure = Some(error);
        } else {
            drop(failure);
            drop(error);
        }
    }
}

impl<T> Subtask<'_, T> {
    /// Waits for the subtask's end and returns its value.
    ///
    /// # Pinning
    ///
    /// Unmounts the calling virtual thread while it waits, unless that is pinned.
    ///
    /// # Errors
    ///
    /// If there is no value: the subtask failed (its error is the scope's result), was cancelled before it
    /// began, or panicked. Pass it on with `?`.
    #[track_caller]
    pub fn join<E>(self) -> Result<T, TaskError<E>> {
        if let Some(thread) = self.thread {
            // Its result is in `outcome`.
            let _ = thread.join();
        }
        let outcome = self.outcome.lock().take();
        match outcome {
            Some(Ok(value)) => Ok(value),
            Some(Err(Missing::Cancelled(reason))) => Err(TaskError::Cancelled(reason)),
            Some(Err(Missing::Panicked)) => Err(TaskError::Panicked),
            None => Err(TaskError::Cancelled(CancelReason::Requested(
                "the runtime shuts down",
            ))),
        }
    }

    /// Has the subtask ended?
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread
            .as_ref()
            .is_none_or(ScopedJoinHandle::is_finished)
    }
}
