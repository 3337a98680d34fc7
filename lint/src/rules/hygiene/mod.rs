//! Rules about the check itself: files it could not read, suppressions that are stale or unexplained.

pub mod suppression;
pub mod suppression_without_reason;
pub mod unparsed_source;
pub mod unused_suppression;
