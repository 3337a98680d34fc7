#![doc = include_str!("../README.md")]

pub mod event;
pub mod sync;
pub mod thread;

mod carrier;
mod continuation;
mod os;
mod park;
mod pin;
mod primitive;
mod runtime;
mod watchdog;

use carrier::current;
pub use os::{io, net};
pub use pin::{native, pinned};

pub use continuation::{ParseStacksError, Stacks};
pub use runtime::{
    BuildError, DeadlockPolicy, Metrics, PinnedTime, Runtime, RuntimeBuilder, SettingError,
    ShutdownReport, SpawnError,
};
