//! The joiner's share of a thread: the right to its result, by waiting or by awaiting.
//!
//! **Invariant (one type):** the record of a thread whose handle is a `Packet<T>` is left a `Result<T>` or nothing.
//! A result that may borrow is dropped by its packet, or by its thread, or, if the packet was forgotten, never: the
//! packet holds the record.
#![expect(
    unsafe_code,
    reason = "knows the type of what the thread leaves in its record"
)]

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::Result;

use super::{Ended, VirtualThread};
use crate::park::{Record, wake_task};
use crate::primitive::Parcel;

/// The right to the result of one thread.
pub(super) struct Packet<T> {
    pub(super) thread: VirtualThread,
    result: PhantomData<fn() -> T>,
}

impl<T> Packet<T> {
    /// # Safety
    ///
    /// The thread of that record [leaves](leave) a result of this type or none, and this is its only packet.
    pub(super) unsafe fn of(record: Arc<Record>) -> Self {
        Self {
            thread: VirtualThread::of(record),
            result: PhantomData,
        }
    }

    /// The result; `None` if the thread never ran or was cancelled, has not ended, or it was taken.
    pub(super) fn take(&self) -> Option<Result<T>> {
        let parcel = self.thread.record().life().take_result()?;
        // SAFETY: "one type".
        Some(unsafe { parcel.open() })
    }
}

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        let untaken = self.thread.record().life().detach();
        drop(untaken);
    }
}

/// At the end of a thread, on its own stack: its closure is gone, and left this.
///
/// # Safety
///
/// What the result borrows outlives the thread's packet, and that has this type.
pub(super) unsafe fn leave<T: Send>(record: &Record, result: Option<Result<T>>) {
    // SAFETY: the caller's promise and "one type": the packet drops it in time, or it is dropped here.
    let parcel = result.map(|result| unsafe { Parcel::lent(result) });
    let (unwanted, awaiting) = record.life().leave(parcel);
    if unwanted.is_some() {
        // Its destructor may panic, and the payload's in turn: neither must unwind into the continuation.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(unwanted))).map_err(std::mem::forget);
    }
    if let Some(waker) = awaiting {
        wake_task(waker);
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
        let record = self.packet.thread.record();
        // Foreign code, and so not under the lock: neither the clone nor the drop of what is not needed.
        let waker = context.waker().clone();
        let (over, unneeded) = record.life().poll_over(waker);
        drop(unneeded);
        over.map(|()| self.packet.take().unwrap_or_else(|| Err(Box::new(Ended))))
    }
}

impl<T> fmt::Debug for Joining<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joining").finish_non_exhaustive()
    }
}
