//! Counts and locates undeclared calls that block a carrier: what users see of the traps, by way of its README.
//!
#![doc = include_str!("../README.md")]

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(target_feature = "crt-static"),
)))]
compile_error!(
    "vt-traps needs a dynamically linked glibc on Linux (x86-64 or aarch64); elsewhere the runtime's watchdog reports \
     undeclared blocking from 20 ms on"
);

mod calls;
mod gate;
mod log;
mod original;

use std::fmt;
use std::time::Duration;

use vt_runtime::event::{Frame, Place, symbolize};

/// Why no call is trapped in this program.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallError {
    /// A call of the C library went past its trap.
    NotInterposed,
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "calls of the C library go past the traps of vt-traps: link the crate into the executable itself, dynamically, \
             and preload nothing in front of it",
        )
    }
}

impl std::error::Error for InstallError {}

/// One call that blocked a carrier undeclared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trapped {
    /// The function's name; of `syscall` the futex too: `syscall futex`.
    pub call: &'static str,
    /// The descriptor it was about, where it has one.
    pub descriptor: Option<i32>,
    /// How long it took.
    pub duration: Duration,
    /// The number of the virtual thread: of `VirtualThread[#21]` the 21.
    pub thread: u64,
    /// The application's line, where the build keeps frame pointers and line tables.
    pub at: Option<Place>,
}

/// What was trapped, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    calls: Vec<Trapped>,
    lost: u64,
}

impl Report {
    /// The calls that blocked.
    #[must_use]
    pub fn calls(&self) -> &[Trapped] {
        &self.calls
    }

    /// Calls beyond the number that is kept in the life of a process (4096).
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Did no call block?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.lost == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.calls.len() {
            0 => f.write_str("no call blocked a carrier")?,
            1 => f.write_str("1 call blocked a carrier")?,
            more => write!(f, "{more} calls blocked carriers")?,
        }
        for call in &self.calls {
            write!(
                f,
                "\n  {:<16} {:>7.1?}  virtual thread #{}",
                call.call, call.duration, call.thread
            )?;
            if let Some(descriptor) = call.descriptor {
                write!(f, "  fd {descriptor}")?;
            }
            match &call.at {
                Some(place) => write!(f, "  at {place}")?,
                None => f.write_str("  at an unknown line")?,
            }
        }
        if self.lost > 0 {
            write!(f, "\n  and {} more that were not kept", self.lost)?;
        }
        Ok(())
    }
}

/// Makes sure that calls are trapped: asks the linker for a few, and makes one. To be called at a test's start; [`watch`]
/// does it too.
///
/// # Errors
///
/// When the program was linked so that calls go past the traps.
pub fn install() -> Result<(), InstallError> {
    if calls::are_interposed() {
        Ok(())
    } else {
        Err(InstallError::NotInterposed)
    }
}

/// Runs `f` and tells which calls blocked carriers meanwhile, on whatever virtual thread of the process.
///
/// # Errors
///
/// As [`install`]; `f` is not run then.
pub fn watch<T>(f: impl FnOnce() -> T) -> Result<(T, Report), InstallError> {
    install()?;
    let watching = gate::Watching::begin();
    let before = log::mark();
    let value = f();
    let report = read(&before);
    drop(watching);
    Ok((value, report))
}

/// Runs `f`, whose blocking is known and not to be reported; `reason` is for the reader of the source.
pub fn allow<T>(reason: &'static str, f: impl FnOnce() -> T) -> T {
    let _ = reason;
    let _allowed = gate::Allowed::enter();
    f()
}

fn read(since: &log::Mark) -> Report {
    let (entries, lost) = log::read(since);
    let calls = entries
        .into_iter()
        .filter(|entry| !is_of_runtime(entry))
        .map(|entry| Trapped {
            call: entry.call,
            descriptor: (entry.descriptor >= 0).then_some(entry.descriptor),
            duration: Duration::from_nanos(entry.nanos),
            thread: entry.thread,
            at: line_of(&symbolize(&entry.stack)),
        });
    Report {
        calls: calls.collect(),
        lost,
    }
}

/// The runtime waits for its own short locks through the futex too, and through no other call of the C library.
fn is_of_runtime(entry: &log::Entry) -> bool {
    entry.call == calls::FUTEX && vt_runtime::__private::is_of_runtime(&entry.stack)
}

fn line_of(frames: &[Frame]) -> Option<Place> {
    let first = frames.first().filter(|frame| frame.is_application);
    first.and_then(|frame| frame.place.clone())
}
