//! What the channels' operations end with instead of success, beside std's own errors.

use std::fmt;

/// Why a message was not sent within a time-out; it comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// There was no room, or with the bound 0 nobody took it.
    Timeout(T),
    /// All receivers are gone.
    Disconnected(T),
}

/// Nothing could be selected without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrySelectError;

/// Nothing could be selected within the time-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectTimeoutError;

impl<T> SendTimeoutError<T> {
    /// The message.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(message) | Self::Disconnected(message) => message,
        }
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "Timeout(..)",
            Self::Disconnected(_) => "Disconnected(..)",
        })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "timed out waiting for room in a channel",
            Self::Disconnected(_) => "sending on a channel without receivers",
        })
    }
}

impl<T> std::error::Error for SendTimeoutError<T> {}

impl fmt::Display for TrySelectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no channel was ready")
    }
}

impl std::error::Error for TrySelectError {}

impl fmt::Display for SelectTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("timed out waiting for a channel to be ready")
    }
}

impl std::error::Error for SelectTimeoutError {}
