#![doc = include_str!("../README.md")]

pub mod event;
pub mod native;
pub mod pinned;
pub mod thread;

mod carrier;
mod continuation;
mod current;
mod park;
mod pin;
mod primitive;
mod runtime;
mod stack;
mod watchdog;

pub use continuation::{ParseStacksError, Stacks};
pub use runtime::{
    BuildError, DeadlockPolicy, Metrics, PinnedTime, Runtime, RuntimeBuilder, SettingError,
    ShutdownReport, SpawnError,
};
