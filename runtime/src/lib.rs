//! Virtual threads with std's names.

pub mod event;

#[cfg_attr(
    not(test),
    expect(
        dead_code,
        unused_imports,
        reason = "the carrier arrives with the scheduler"
    )
)]
mod continuation;

pub use continuation::{ParseStacksError, Stacks};
