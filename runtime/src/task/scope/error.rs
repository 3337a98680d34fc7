//! Why a subtask or a scope has no result.

use std::fmt;

/// Why a scope was cancelled: a value, so that nobody has to guess it from a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CancelReason {
    /// A subtask failed and all were needed.
    SubtaskFailed,
    /// A subtask succeeded and one was enough.
    SubtaskSucceeded,
    /// An outcome was what [`collect_until`](super::TaskScope::collect_until) waited for.
    ConditionMet,
    /// A subtask panicked.
    SubtaskPanicked,
    /// The scope's own closure failed.
    OwnerFailed,
    /// The scope's own closure panicked.
    OwnerPanicked,
    /// The scope's deadline passed.
    Deadline,
    /// [`TaskScope::cancel`](super::TaskScope::cancel) was called, with this reason.
    Requested(&'static str),
}

impl fmt::Display for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SubtaskFailed => "a subtask failed",
            Self::SubtaskSucceeded => "a subtask succeeded",
            Self::ConditionMet => "an outcome met the condition",
            Self::SubtaskPanicked => "a subtask panicked",
            Self::OwnerFailed => "the scope's closure failed",
            Self::OwnerPanicked => "the scope's closure panicked",
            Self::Deadline => "the deadline passed",
            Self::Requested(reason) => reason,
        })
    }
}

/// Why a subtask or a scope has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError<E> {
    /// A subtask failed with this.
    Failed(E),
    /// The scope was cancelled first.
    Cancelled(CancelReason),
    /// The subtask panicked; the scope raises its panic at the end.
    Panicked,
    /// Nothing was forked that could have succeeded.
    Empty,
}

impl<E: fmt::Display> fmt::Display for TaskError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => write!(f, "subtask failed: {error}"),
            Self::Cancelled(reason) => write!(f, "cancelled: {reason}"),
            Self::Panicked => f.write_str("subtask panicked"),
            Self::Empty => f.write_str("no subtask was forked"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for TaskError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }
}
