//! What the expansions of `vt-macros` call.
//!
//! Reached from outside only as `vt_runtime::__private`, which is no API: both crates are released together
//! and depend on each other by exact version.

mod main;
mod native;
pub(crate) mod report;
mod swap;
mod test;

pub use main::Main;
pub use native::{NativeClass, native_call};
pub use std::process::ExitCode;
pub use swap::Swap;
pub use test::Test;
