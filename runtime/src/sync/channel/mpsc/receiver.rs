//! The receiving half and its iterators.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::InterruptibleRecvError;
use super::channel::{Channel, NotReceived};
use crate::sync::raw::attempt::{self, Attempt};

/// The receiving half of a channel. It can move between threads, but is used by one at a time.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    _one_at_a_time: PhantomData<Cell<()>>,
}

impl<T> Receiver<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self {
            channel,
            _one_at_a_time: PhantomData,
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
    #[inline(always)]
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.channel.recv(|attempt| attempt).map_err(|_| RecvError)
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
        self.channel
            .recv(Attempt::interruptible)
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
        self.channel.try_recv()
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
        self.channel
            .recv(|attempt| attempt.until(attempt::deadline_in(timeout)))
            .map_err(NotReceived::timed)
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
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.channel.remove_receiver();
    }
}

impl<T> std::panic::UnwindSafe for Receiver<T> {}
impl<T> std::panic::RefUnwindSafe for Receiver<T> {}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

crate::sync::channel::iterators::iterators!();
