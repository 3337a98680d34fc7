//! Virtual threads with std's names.

pub mod event;
