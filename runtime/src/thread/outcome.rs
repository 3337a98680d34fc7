//! Where a thread leaves its result for whoever joins it, by waiting or by awaiting.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread::Result;

use parking_lot::Mutex;

use super::Ended;

/// One thread's result; empty if it never ran or was cancelled.
pub(super) struct Outcome<T> {
    result: Mutex<Option<Result<T>>>,
    awaiting: Mutex<Awaiting>,
}

#[derive(Default)]
struct Awaiting {
    /// The closure is gone, with or without a result.
    over: bool,
    waker: Option<Waker>,
}

/// The joiner's share of it.
pub(super) type Packet<T> = Arc<Outcome<T>>;

impl<T> Default for Outcome<T> {
    fn default() -> Self {
        Self {
            result: Mutex::new(None),
            awaiting: Mutex::default(),
        }
    }
}

impl<T> Outcome<T> {
    pub(super) fn take(&self) -> Option<Result<T>> {
        self.result.lock().take()
    }
}

/// The thread's share. When it goes, also with a closure that never ran, whoever awaits is woken: on the thread's own
/// stack, since a waker is foreign code.
pub(super) struct Theirs<T>(Packet<T>);

impl<T> Theirs<T> {
    pub(super) fn of(packet: &Packet<T>) -> Self {
        Self(Arc::clone(packet))
    }

    pub(super) fn leave(self, result: Result<T>) {
        *self.0.result.lock() = Some(result);
    }
}

impl<T> Drop for Theirs<T> {
    fn drop(&mut self) {
        let waker = {
            let mut awaiting = self.0.awaiting.lock();
            awaiting.over = true;
            awaiting.waker.take()
        };
        if let Some(waker) = waker {
            // A panic must not get past the end of a thread, nor may its payload's destructor.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake())).map_err(std::mem::forget);
        }
    }
}

/// The future of a [`JoinHandle`](super::JoinHandle).
#[must_use = "futures do nothing unless they are awaited"]
pub struct Joining<T> {
    packet: Packet<T>,
}

impl<T> Joining<T> {
    pub(super) fn of(packet: Packet<T>) -> Self {
        Self { packet }
    }
}

impl<T> Future for Joining<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let replaced = {
            let mut awaiting = self.packet.awaiting.lock();
            if awaiting.over {
                drop(awaiting);
                return Poll::Ready(self.packet.take().unwrap_or_else(|| Err(Box::new(Ended))));
            }
            awaiting.waker.replace(context.waker().clone())
        };
        // Foreign code: not under the lock.
        drop(replaced);
        Poll::Pending
    }
}

impl<T> fmt::Debug for Joining<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joining").finish_non_exhaustive()
    }
}
