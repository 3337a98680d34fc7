//! Support for the tests of the whole. How to write one:
//!
//! - take a [`Deadline`] first: a hang must fail, not hang;
//! - build runtimes with [`runtime`], which captures their events, on [both backends](BACKENDS);
//! - say how many carriers there are: a test must not depend on the machine's cores;
//! - order comes from a [`Gate`] or a join, never from a sleep; thresholds are zero unless they are the point;
//! - compare fields of events, never formatted text.

mod capture;
mod deadline;
pub mod foreign;
mod gate;

pub use capture::{Capture, line_of};
pub use deadline::Deadline;
pub use gate::Gate;
use std::time::Duration;
use vt_runtime::thread::VirtualThread;
use vt_runtime::{Runtime, RuntimeBuilder, Stacks};

/// The unit of time in the acceptance cases.
pub const T: Duration = Duration::from_millis(100);

/// Both continuation backends.
pub const BACKENDS: [Stacks; 2] = [Stacks::Dense, Stacks::Generator];

/// A builder with that backend and number of carriers, threshold zero, and its events captured.
pub fn builder(stacks: Stacks, carriers: usize) -> (RuntimeBuilder, Capture) {
    let capture = Capture::new();
    let builder = Runtime::builder()
        .stacks(stacks)
        .carriers(carriers)
        .pin_threshold(Duration::ZERO)
        .dispatch(capture.dispatch());
    (builder, capture)
}

/// A runtime with that backend and number of carriers, threshold zero, and its events captured.
///
/// # Panics
///
/// If it cannot be built.
#[must_use]
pub fn runtime(stacks: Stacks, carriers: usize) -> (Runtime, Capture) {
    let (builder, capture) = builder(stacks, carriers);
    (builder.build().expect("carriers start"), capture)
}

/// The cookbook's code compiles.
#[cfg(doctest)]
#[doc = include_str!("../../docs/park-safe.md")]
pub struct ParkSafeCookbook;

/// Returns when the thread has stopped in a wait.
pub fn until_it_waits(runtime: &Runtime, thread: &VirtualThread) {
    let waits = || {
        runtime
            .threads()
            .iter()
            .any(|info| info.id == thread.id() && info.waits_for.is_some())
    };
    while !waits() {
        std::thread::yield_now();
    }
}
