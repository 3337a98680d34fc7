//! The sending half.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{SendError, TrySendError};
use std::time::Duration;

use super::buffer::{Begun, Buffer};
use super::error::SendTimeoutError;
use super::meeting::NotSent;
use super::standing::{Half, Sends, Standing, wait};
use crate::sync::raw::attempt::{self, Attempt};

/// The sending half of a channel; a clone sends on the same one. Its receivers learn of the end when the last is
/// dropped.
pub struct Sender<T> {
    half: Sends<T>,
}

impl<T> Sender<T> {
    pub(super) fn new(buffer: Arc<Buffer<T>>) -> Self {
        Self {
            half: Sends(buffer),
        }
    }

    pub(super) fn buffer(&self) -> &Buffer<T> {
        &self.half.0
    }

    pub(super) fn half(&self) -> &dyn Half {
        &self.half
    }

    /// Sends a message, waiting for room; on a channel of [`bounded(0)`](super::bounded) until it is received. An
    /// interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned.
    ///
    /// # Errors
    ///
    /// The message, if all receivers are gone.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match self.send_as(message, |attempt| attempt) {
            Ok(()) => Ok(()),
            Err(NotSent::Disconnected(message) | NotSent::GaveUp(message)) => {
                Err(SendError(message))
            }
        }
    }

    /// Sends a message if there is room; with the bound 0, if a receiver waits for it. Should that receiver's carrier be
    /// pinned before it runs, another one may have the message, perhaps after later ones.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// The message, if there is no room or all receivers are gone.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.buffer().try_send(message)
    }

    /// [`send`](Self::send) for at most `timeout`. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// As `send`.
    ///
    /// # Errors
    ///
    /// The message, if it could not be sent in that time or all receivers are gone.
    #[track_caller]
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_as(message, |attempt| {
            attempt.until(attempt::deadline_in(timeout))
        })
        .map_err(|error| match error {
            NotSent::Disconnected(message) => SendTimeoutError::Disconnected(message),
            NotSent::GaveUp(message) => SendTimeoutError::Timeout(message),
        })
    }

    #[track_caller]
    fn send_as(&self, message: T, how: impl FnOnce(Attempt) -> Attempt) -> Result<(), NotSent<T>> {
        let buffer = self.buffer();
        if buffer.hands_over() {
            return buffer.hand_over(message, how(buffer.attempt()));
        }
        let message = match buffer.try_send(message) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Disconnected(message)) => return Err(NotSent::Disconnected(message)),
            Err(TrySendError::Full(message)) => message,
        };
        let mut attempt = how(buffer.attempt());
        match wait(&mut [Standing::new(&self.half)], 0, &mut attempt) {
            Ok((_, begun)) => self.finish(begun, message).map_err(NotSent::Disconnected),
            Err(_) => Err(NotSent::GaveUp(message)),
        }
    }

    pub(super) fn finish(&self, begun: Begun, message: T) -> Result<(), T> {
        self.buffer().finish_send(begun, message)
    }

    /// How many messages wait to be received.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer().len()
    }

    /// Does no message wait to be received?
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Is there no room? Always so with the bound 0.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.buffer().is_full()
    }

    /// How many messages the channel can hold, `None` without a limit.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.buffer().capacity()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.buffer().add_sender();
        Self::new(Arc::clone(&self.half.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.buffer().remove_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}
