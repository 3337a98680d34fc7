//! Handles: one thread's identity, and the right to wait for its result.

use std::fmt;
use std::num::NonZeroU64;
use std::panic::Location;
use std::sync::Arc;

use super::info::ThreadState;
use super::outcome::{Joining, Packet};
use crate::event::{Operation, Subject, WaitOutcome};
use crate::park::{self, Record, Wait};

/// A thread's number, never reused within a process. Displays as in `#21`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(NonZeroU64);

impl ThreadId {
    pub(super) fn of(record: &Record) -> Self {
        Self(NonZeroU64::new(record.id).unwrap_or(NonZeroU64::MIN))
    }

    /// The number, as in events.
    #[must_use]
    pub fn as_u64(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadId({})", self.0)
    }
}

/// A handle to a thread, as `std::thread::Thread`: a virtual thread or, from
/// [`current`](super::current) on one, a plain OS thread.
#[derive(Clone)]
pub struct VirtualThread {
    /// Taken by `drop` only.
    record: Option<Arc<Record>>,
}

impl Drop for VirtualThread {
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            park::let_go(record);
        }
    }
}

impl VirtualThread {
    pub(super) fn of(record: Arc<Record>) -> Self {
        Self {
            record: Some(record),
        }
    }

    pub(super) fn record(&self) -> &Arc<Record> {
        let record = self.record.as_ref();
        record.expect("a handle has a record until it is dropped")
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        ThreadId::of(self.record())
    }

    /// The name given by its builder.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.record().name.as_deref()
    }

    /// Gives the thread its permit: its current or next [`park`](super::park) returns.
    pub fn unpark(&self) {
        self.record().unpark();
    }

    /// Sets the interrupt flag, wakes a `park` and ends an interruptible wait with its error.
    pub fn interrupt(&self) {
        self.record().interrupt();
    }

    /// Is the interrupt flag set?
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.record().is_interrupted()
    }
}

/// `VirtualThread[#21,vt-0]/runnable@carrier-1`, in the JDK's manner.
impl fmt::Display for VirtualThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.record().as_virtual().is_some() {
            "VirtualThread"
        } else {
            "Thread"
        };
        write!(
            f,
            "{kind}[#{},{}]/{}",
            self.id(),
            self.record().display_name(),
            ThreadState::of(self.record())
        )?;
        match self.record().home() {
            Some(carrier) => write!(f, "@carrier-{carrier}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for VirtualThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The right to wait for a thread's end. Dropping it detaches the thread, as in std.
pub struct JoinHandle<T> {
    packet: Packet<T>,
}

impl<T> JoinHandle<T> {
    pub(super) fn of(packet: Packet<T>) -> Self {
        Self { packet }
    }

    /// Waits for the thread's end and returns its result, or the payload of its panic.
    ///
    /// # Pinning
    ///
    /// Unmounts the calling virtual thread while it waits, unless that is pinned.
    ///
    /// # Errors
    ///
    /// The panic's payload; [`Ended`] if the thread was cancelled or never got a stack.
    ///
    /// # Panics
    ///
    /// If a thread joins itself, as in std.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        self.wait_for_end(false, Location::caller());
        self.take_result()
    }

    /// [`join`](Self::join) that an interrupt ends, giving the handle back.
    ///
    /// # Pinning
    ///
    /// As `join`.
    ///
    /// # Errors
    ///
    /// The handle, if the calling thread was interrupted first; its flag is clear then.
    #[track_caller]
    pub fn join_interruptibly(self) -> Result<std::thread::Result<T>, Self> {
        match self.wait_for_end(true, Location::caller()) {
            WaitOutcome::Interrupted => Err(self),
            _ => Ok(self.take_result()),
        }
    }

    fn wait_for_end(&self, interruptible: bool, at: &'static Location<'static>) -> WaitOutcome {
        wait_for_end(self.thread().record(), interruptible, at)
    }

    fn take_result(self) -> std::thread::Result<T> {
        let result = self.packet.take();
        result.unwrap_or_else(|| Err(Box::new(Ended)))
    }

    /// Has the thread ended?
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread().record().has_ended()
    }

    /// The thread itself.
    #[must_use]
    pub fn thread(&self) -> &VirtualThread {
        &self.packet.thread
    }
}

/// An async task awaits the thread's end, and gets what [`join`](JoinHandle::join) returns. Dropping the future detaches.
///
/// ```
/// let handle = vt_runtime::thread::spawn(|| 6 * 7);
/// let answer = vt_runtime::future::block_on(async { handle.await });
/// assert_eq!(answer.unwrap(), 42);
/// ```
impl<T> IntoFuture for JoinHandle<T> {
    type Output = std::thread::Result<T>;
    type IntoFuture = Joining<T>;

    fn into_future(self) -> Joining<T> {
        Joining::of(self.packet)
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("thread", self.thread())
            .finish_non_exhaustive()
    }
}

/// The payload of `join` for a thread that ended without a result: cancelled by a shutdown, or refused its
/// stack after it was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the virtual thread was cancelled before it had a result")
    }
}

impl std::error::Error for Ended {}

pub(super) fn wait_for_end(
    record: &Arc<Record>,
    interruptible: bool,
    at: &'static Location<'static>,
) -> WaitOutcome {
    assert!(
        record.id != park::me(),
        "a thread cannot join itself: {at} would wait for ever"
    );
    // Often it is, and then no wait need begin.
    while !record.has_ended() {
        let waiter = park::prepare();
        let epoch = waiter.epoch();
        if !record.life().add_joiner(waiter) {
            break;
        }
        let wait = Wait {
            interruptible,
            ..join(record, at)
        };
        if park::wait(epoch, &wait) == WaitOutcome::Interrupted {
            return WaitOutcome::Interrupted;
        }
    }
    WaitOutcome::Done
}

/// Waits for the end of a thread that borrows from the caller: neither interrupts nor shutdown end it early. For ever if
/// the thread was abandoned: what it borrowed, it may have lent on.
pub(super) fn wait_for_end_lending(record: &Arc<Record>, at: &'static Location<'static>) {
    loop {
        let waiter = park::prepare_lending();
        let epoch = waiter.epoch();
        if !record.life().add_joiner(waiter) && record.has_left() {
            return;
        }
        park::wait_lending(epoch, &join(record, at));
    }
}

fn join(record: &Record, at: &'static Location<'static>) -> Wait {
    let subject = Subject {
        kind: Subject::THREAD,
        name: None,
        id: record.id,
    };
    Wait {
        subject: Some(subject),
        owner: record.id,
        ..Wait::new(Operation::Join, at)
    }
}
