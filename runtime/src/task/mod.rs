//! Structured concurrency and what belongs to a thread: scopes of subtasks that fail and end together, values
//! that are handed down, values of one thread, and limits on how much runs at once.
//!
//! | to | use |
//! | --- | --- |
//! | run several things and need all, any, or each of them | [`TaskScope`] |
//! | see who forked whom | [`ThreadTree`] |
//! | hand a value down to everything that a call does, subtasks included | [`ScopedValue`], [`scoped_value!`] |
//! | keep a value for each virtual thread | [`LocalKey`], [`local!`] |
//! | start a thread for each task, but not more than the rest of the system can take | [`Executor`] |
//! | share a few expensive things (connections) among many threads | [`Pool`] |

mod executor;
mod local;
mod pool;
mod scope;
mod scoped_value;
mod storage;

pub use executor::{Executor, ExecutorMetrics};
pub use local::{AccessError, LocalKey};
pub use pool::{Pool, PoolBuilder, PoolError, PoolMetrics, Pooled};
pub use scope::{
    AllOrFail, AnySuccess, CancelReason, Collect, Subtask, TaskError, TaskScope, ThreadTree,
};
pub use scoped_value::ScopedValue;
pub(crate) use storage::end_of_thread;

pub use crate::{__local as local, __scoped_value as scoped_value};

#[cfg(all(test, not(loom)))]
mod tests;
