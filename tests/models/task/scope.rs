//! Scopes, without their threads: the sources, as they are.

#[path = "../../../runtime/src/task/scope/cancellation.rs"]
pub(crate) mod cancellation;

/// As the runtime's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CancelReason;
