//! The receiving half and its iterators.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use super::buffer::{Begun, Buffer};
use super::clock::Clock;
use super::standing::{Half, Receives, Standing, wait};
use crate::event::Operation;
use crate::sync::mpsc::InterruptibleRecvError;
use crate::sync::raw::attempt::{self, Attempt};

/// The receiving half of a channel; a clone receives from the same one. Each message reaches one receiver.
pub struct Receiver<T> {
    source: Source<T>,
}

enum Source<T> {
    Buffer(Receives<T>),
    Clock {
        clock: Arc<Clock>,
        message: fn(Instant) -> T,
    },
}

/// Why nothing was received.
enum NotReceived {
    Disconnected,
    GaveUp,
}

impl<T> Receiver<T> {
    pub(super) fn new(buffer: Arc<Buffer<T>>) -> Self {
        Self {
            source: Source::Buffer(Receives(buffer)),
        }
    }

    pub(super) fn of_clock(clock: Clock, message: fn(Instant) -> T) -> Self {
        Self {
            source: Source::Clock {
                clock: Arc::new(clock),
                message,
            },
        }
    }

    pub(super) fn half(&self) -> &dyn Half {
        match &self.source {
            Source::Buffer(half) => half,
            Source::Clock { clock, .. } => &**clock,
        }
    }

    fn buffer(&self) -> Option<&Buffer<T>> {
        match &self.source {
            Source::Buffer(half) => Some(&half.0),
            Source::Clock { .. } => None,
        }
    }

    /// Receives the next message, waiting for it. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if no message is left and no sender.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_as(|attempt| attempt).map_err(|_| RecvError)
    }

    /// [`recv`](Self::recv) that an interrupt ends.
    ///
    /// # Pinning
    ///
    /// As `recv`.
    ///
    /// # Errors
    ///
    /// [`InterruptibleRecvError::Interrupted`] if the thread is interrupted before a message comes; its flag is
    /// clear then.
    #[track_caller]
    pub fn recv_interruptibly(&self) -> Result<T, InterruptibleRecvError> {
        self.recv_as(Attempt::interruptible)
            .map_err(|error| match error {
                NotReceived::Disconnected => InterruptibleRecvError::Disconnected,
                NotReceived::GaveUp => InterruptibleRecvError::Interrupted,
            })
    }

    /// Receives a message if there is one.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`] says why there is none.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.source {
            Source::Buffer(half) => half.0.try_recv(),
            Source::Clock { clock, message } => {
                clock.take().map(message).ok_or(TryRecvError::Empty)
            }
        }
    }

    /// [`recv`](Self::recv) for at most `timeout`. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// As `recv`.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`] says why there is none.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_as(|attempt| attempt.until(attempt::deadline_in(timeout)))
            .map_err(|error| match error {
                NotReceived::Disconnected => RecvTimeoutError::Disconnected,
                NotReceived::GaveUp => RecvTimeoutError::Timeout,
            })
    }

    #[track_caller]
    fn recv_as(&self, how: impl FnOnce(Attempt) -> Attempt) -> Result<T, NotReceived> {
        match self.try_recv() {
            Ok(message) => return Ok(message),
            Err(TryRecvError::Disconnected) => return Err(NotReceived::Disconnected),
            Err(TryRecvError::Empty) => {}
        }
        let attempt = match self.buffer() {
            Some(buffer) => buffer.attempt(),
            None => Attempt::new(Operation::Channel),
        };
        match wait(&mut [Standing::new(self.half())], 0, &mut how(attempt)) {
            Ok((_, begun)) => self.finish(begun).ok_or(NotReceived::Disconnected),
            Err(_) => Err(NotReceived::GaveUp),
        }
    }

    pub(super) fn finish(&self, begun: Begun) -> Option<T> {
        match (&self.source, begun) {
            (Source::Clock { message, .. }, Begun::Moment(due)) => Some(message(due)),
            (Source::Buffer(half), begun) => half.0.finish_recv(begun),
            (Source::Clock { .. }, _) => None,
        }
    }

    /// All messages, waiting for each, until no sender is left.
    ///
    /// # Pinning
    ///
    /// Each step is a [`recv`](Self::recv).
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// The messages that are there, without waiting.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }

    /// How many messages wait to be received.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.source {
            Source::Buffer(half) => half.0.len(),
            Source::Clock { clock, .. } => {
                usize::from(clock.next_due().is_some_and(|due| due <= Instant::now()))
            }
        }
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

    /// Is there no room for senders? Always so with the bound 0.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.buffer().map_or(!self.is_empty(), Buffer::is_full)
    }

    /// How many messages the channel can hold, `None` without a limit.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.buffer().map_or(Some(1), Buffer::capacity)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        match &self.source {
            Source::Buffer(half) => {
                half.0.add_receiver();
                Self::new(Arc::clone(&half.0))
            }
            Source::Clock { clock, message } => Self {
                source: Source::Clock {
                    clock: Arc::clone(clock),
                    message: *message,
                },
            },
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer() {
            buffer.remove_receiver();
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

super::iterators::iterators!();
