//! Scopes that need one of their subtasks.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{CancelReason, Ended, TaskError, TaskScope, open};
use crate::thread::Builder;

/// The kind of [`TaskScope::any_success`].
#[derive(Debug)]
pub struct AnySuccess<T, E> {
    outcome: Mutex<Option<Result<T, TaskError<E>>>>,
}

impl TaskScope<'_, '_, ()> {
    /// Runs `body`, which forks subtasks of which one is needed. The first that succeeds cancels the rest and is
    /// the result. If none does, the result is the first error.
    ///
    /// ```
    /// use vt_runtime::task::TaskScope;
    ///
    /// let answer = TaskScope::any_success(|s| {
    ///     for text in ["x", "42", "y"] {
    ///         s.spawn(move || text.parse::<i32>());
    ///     }
    /// });
    /// assert_eq!(answer, Ok(42));
    /// ```
    ///
    /// # Pinning
    ///
    /// Unmounts the calling virtual thread while it waits for the end, unless that is pinned. Neither an interrupt
    /// nor a shutdown ends this wait, because the subtasks may borrow from the caller.
    ///
    /// # Errors
    ///
    /// The first error, if no subtask succeeded; [`TaskError::Cancelled`] if the scope was cancelled before;
    /// [`TaskError::Empty`] if there was no subtask.
    ///
    /// # Panics
    ///
    /// With the panic of `body`, or of the first subtask that panicked, after all have ended.
    #[track_caller]
    pub fn any_success<'env, T: Send, E: Send>(
        body: impl for<'scope> FnOnce(&TaskScope<'scope, 'env, AnySuccess<T, E>>),
    ) -> Result<T, TaskError<E>> {
        let kind = Arc::new(AnySuccess {
            outcome: Mutex::new(None),
        });
        let ((), shared) = open(Arc::clone(&kind), body);
        let outcome = kind.outcome.lock().take();
        match (outcome, shared.cancellation.reason()) {
            (Some(Ok(value)), _) => Ok(value),
            (_, Some(reason)) => Err(TaskError::Cancelled(reason)),
            (Some(Err(error)), None) => Err(error),
            (None, None) => Err(TaskError::Empty),
        }
    }
}

impl<'scope, T: Send + 'scope, E: Send + 'scope> TaskScope<'scope, '_, AnySuccess<T, E>> {
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
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce() -> Result<T, E> + Send + 'scope,
    {
        self.spawn_with(Builder::new(), f);
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
    pub fn spawn_with<F>(&self, builder: Builder, f: F)
    where
        F: FnOnce() -> Result<T, E> + Send + 'scope,
    {
        let (kind, shared) = (Arc::clone(&self.kind), Arc::clone(&self.shared));
        let report = move |ended: Ended<Result<T, E>>| {
            let Ended::Returned(result) = ended else {
                return;
            };
            let succeeded = result.is_ok();
            let unused = kind.keep(result);
            drop(unused);
            if succeeded {
                shared.cancellation.cancel(&CancelReason::SubtaskSucceeded);
            }
        };
        // Its end is waited for by the scope.
        drop(self.fork(builder, f, report));
    }
}

impl<T, E> AnySuccess<T, E> {
    /// Keeps the first success, else the first error; gives back what is not kept.
    fn keep(&self, result: Result<T, E>) -> Option<Result<T, TaskError<E>>> {
        let result = result.map_err(TaskError::Failed);
        let mut outcome = self.outcome.lock();
        match (&*outcome, &result) {
            (None, _) | (Some(Err(_)), Ok(_)) => outcome.replace(result),
            _ => Some(result),
        }
    }
}
