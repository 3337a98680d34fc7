//! What a lock or a wait can end with instead of success.

use std::fmt;

/// Why a lock was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockError {
    /// The wait would never have ended.
    Deadlock(LockDeadlock),
    /// The thread was interrupted; its flag is clear again.
    Interrupted,
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadlock(deadlock) => deadlock.fmt(f),
            Self::Interrupted => f.write_str("interrupted while waiting for a lock"),
        }
    }
}

impl std::error::Error for LockError {}

/// A deadlock that waiting for the lock would have been part of. Displays as the whole cycle, with the lock's
/// name and the threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockDeadlock {
    cycle: String,
}

impl LockDeadlock {
    pub(crate) fn new(cycle: String) -> Self {
        Self { cycle }
    }
}

impl fmt::Display for LockDeadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deadlock: {}", self.cycle)
    }
}

impl std::error::Error for LockDeadlock {}

/// Why a wait for a notice ended without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The thread was interrupted; its flag is clear again and the lock held.
    Interrupted,
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted while waiting for a notification"),
        }
    }
}

impl std::error::Error for WaitError {}

/// Whether a timed wait for a notice ended by its time-out, as `std::sync::WaitTimeoutResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult {
    timed_out: bool,
}

impl WaitTimeoutResult {
    pub(crate) const fn new(timed_out: bool) -> Self {
        Self { timed_out }
    }

    /// Did the time-out end the wait?
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.timed_out
    }
}

/// The thread was interrupted while it waited; its flag is clear again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted while waiting")
    }
}

impl std::error::Error for Interrupted {}
