//! What a socket's handles agree on: time-outs, and whether waiting is wanted at all.
//!
//! std keeps these in the kernel's open file, which clones share; so do these.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::carrier::Direction;
use crate::park::nanos;

/// No time-out.
const NONE: u64 = u64::MAX;

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Limits {
    timeouts: [AtomicU64; 2],
    nonblocking: AtomicBool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeouts: [AtomicU64::new(NONE), AtomicU64::new(NONE)],
            nonblocking: AtomicBool::new(false),
        }
    }
}

impl Limits {
    /// # Errors
    ///
    /// `InvalidInput` for a time-out of zero, as in std.
    pub(super) fn set_timeout(
        &self,
        direction: Direction,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        let nanos = match timeout {
            None => NONE,
            Some(Duration::ZERO) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "a time-out of zero would never wait; use set_nonblocking",
                ));
            }
            Some(timeout) => nanos(timeout),
        };
        self.timeouts[direction as usize].store(nanos, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn timeout(&self, direction: Direction) -> Option<Duration> {
        let nanos = self.timeouts[direction as usize].load(Ordering::Relaxed);
        (nanos != NONE).then(|| Duration::from_nanos(nanos))
    }

    /// When an operation that begins now has waited for too long.
    pub(super) fn deadline(&self, direction: Direction) -> Option<Instant> {
        // Most have none, and reading the clock costs more than to find out.
        let timeout = self.timeout(direction)?;
        Instant::now().checked_add(timeout)
    }

    pub(super) fn set_nonblocking(&self, nonblocking: bool) {
        self.nonblocking.store(nonblocking, Ordering::Relaxed);
    }

    pub(super) fn is_nonblocking(&self) -> bool {
        self.nonblocking.load(Ordering::Relaxed)
    }
}
