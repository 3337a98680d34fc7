//! Virtual threads with std's names, and events for each that keeps its carrier: what users see of the runtime, by way of its README.
//!
#![doc = include_str!("../README.md")]

pub mod event;
pub mod sync;
pub mod task;
pub mod thread;

mod carrier;
mod continuation;
mod expansion;
mod os;
mod park;
mod pin;
mod primitive;
mod runtime;
mod watchdog;

use carrier::current;
pub use os::{blocking, blocking_in_place, fs, future, io, net, process};
pub use pin::{native, pinned};

pub use continuation::{ParseStacksError, Stacks};
pub use runtime::{
    BuildError, CarrierPins, DeadlockPolicy, Metrics, OffloadMetrics, PinnedHistogram, PinnedSite,
    PinnedTime, Runtime, RuntimeBuilder, SettingError, ShutdownReport, SpawnError,
};

/// What the macros' expansions name. No API: it changes with any release.
#[doc(hidden)]
pub mod __private {
    pub use crate::event::is_of_runtime;
    pub use crate::expansion::{ExitCode, Main, NativeClass, Swap, Test, native_call};
    pub use crate::park::{undeclared_thread, walk};
}

#[doc(inline)]
pub use vt_macros::{lint_allow, main, native, park_safe, park_safe_items, test};
