//! Scopes that want each outcome.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{CancelReason, Ended, TaskError, TaskScope, open};
use crate::thread::Builder;

/// The kind of [`TaskScope::collect`].
pub struct Collect<T, E> {
    /// In the order of forking; `None` while it runs.
    outcomes: Mutex<Vec<Option<Outcome<T, E>>>>,
    enough: Option<Box<Enough<T, E>>>,
}

type Outcome<T, E> = Result<T, TaskError<E>>;
type Enough<T, E> = dyn Fn(&Outcome<T, E>) -> bool + Send + Sync;

impl TaskScope<'_, '_, ()> {
    /// Runs `body`, which forks subtasks, and returns the outcome of each, in the order of forking.
    ///
    /// ```
    /// use vt_runtime::task::TaskScope;
    ///
    /// let numbers = TaskScope::collect(|s| {
    ///     for text in ["1", "two", "3"] {
    ///         s.spawn(move || text.parse::<i32>());
    ///     }
    /// });
    /// assert_eq!(numbers[0], Ok(1));
    /// assert!(numbers[1].is_err());
    /// assert_eq!(numbers[2], Ok(3));
    /// ```
    ///
    /// # Pinning
    ///
    /// Unmounts the calling virtual thread while it waits for the end, unless that is pinned. Neither an interrupt
    /// nor a shutdown ends this wait, because the subtasks may borrow from the caller.
    ///
    /// # Panics
    ///
    /// With the panic of `body`, or of the first subtask that panicked, after all have ended.
    #[track_caller]
    pub fn collect<'env, T: Send, E: Send>(
        body: impl for<'scope> FnOnce(&TaskScope<'scope, 'env, Collect<T, E>>),
    ) -> Vec<Result<T, TaskError<E>>> {
        gather(None, body)
    }

    /// [`collect`](Self::collect) that cancels the rest as soon as `enough` says so of an outcome.
    ///
    /// # Pinning
    ///
    /// As `collect`.
    ///
    /// # Panics
    ///
    /// As `collect`.
    #[track_caller]
    pub fn collect_until<'env, T: Send, E: Send>(
        enough: impl Fn(&Result<T, TaskError<E>>) -> bool + Send + Sync + 'static,
        body: impl for<'scope> FnOnce(&TaskScope<'scope, 'env, Collect<T, E>>),
    ) -> Vec<Result<T, TaskError<E>>> {
        gather(Some(Box::new(enough)), body)
    }
}

#[track_caller]
fn gather<'env, T: Send, E: Send>(
    enough: Option<Box<Enough<T, E>>>,
    body: impl for<'scope> FnOnce(&TaskScope<'scope, 'env, Collect<T, E>>),
) -> Vec<Result<T, TaskError<E>>> {
    let kind = Arc::new(Collect {
        outcomes: Mutex::default(),
        enough,
    });
    open(Arc::clone(&kind), body);
    let outcomes = std::mem::take(&mut *kind.outcomes.lock());
    let shut_down = || {
        Err(TaskError::Cancelled(CancelReason::Requested(
            "the runtime shuts down",
        )))
    };
    outcomes
        .into_iter()
        .map(|outcome| outcome.unwrap_or_else(shut_down))
        .collect()
}

impl<'scope, T: Send + 'scope, E: Send + 'scope> TaskScope<'scope, '_, Collect<T, E>> {
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
        let index = {
            let mut outcomes = self.kind.outcomes.lock();
            outcomes.push(None);
            outcomes.len() - 1
        };
        let (kind, shared) = (Arc::clone(&self.kind), Arc::clone(&self.shared));
        let report = move |ended: Ended<Result<T, E>>| {
            let outcome = match ended {
                Ended::Returned(result) => result.map_err(TaskError::Failed),
                Ended::Panicked => Err(TaskError::Panicked),
                Ended::NeverBegan(reason) => Err(TaskError::Cancelled(reason)),
            };
            if kind.enough.as_ref().is_some_and(|enough| enough(&outcome)) {
                shared.cancellation.cancel(&CancelReason::ConditionMet);
            }
            kind.outcomes.lock()[index] = Some(outcome);
        };
        // Its end is waited for by the scope.
        drop(self.fork(builder, f, report));
    }
}

impl<T, E> fmt::Debug for Collect<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collect").finish_non_exhaustive()
    }
}
