//! Virtual threads, with std's names: change `use std::thread` to `use vt_runtime::thread`.

mod builder;
mod handle;
mod info;
mod lent;
mod outcome;
mod scope;
mod suspended;

use std::panic::Location;
use std::time::{Duration, Instant};

pub use builder::Builder;
pub use handle::{Ended, JoinHandle, ThreadId, VirtualThread};
pub(crate) use info::Dump;
pub use info::{ThreadInfo, ThreadState};
pub(crate) use lent::{offload, run};
pub use outcome::Joining;
pub use scope::{Scope, ScopedJoinHandle, scope};
/// The result of joining a thread: std's, whose error is the payload of the panic.
#[doc(no_inline)]
pub use std::thread::Result;
/// How many threads can compute at once: std's. As many carriers a runtime has unless its builder says otherwise.
#[doc(no_inline)]
pub use std::thread::available_parallelism;
/// Does the calling thread unwind? std's, which is right in virtual threads too: none unmounts while it unwinds.
#[doc(no_inline)]
pub use std::thread::panicking;
pub(crate) use suspended::Stacks;

use crate::current;
use crate::event::{Operation, WaitOutcome};
use crate::park::{self, Wait};
use crate::pin;

/// Spawns a virtual thread on the current runtime, or on the default one from a plain OS thread.
///
/// ```
/// let handle = vt_runtime::thread::spawn(|| 6 * 7);
/// assert_eq!(handle.join().unwrap(), 42);
/// ```
///
/// # Pinning
///
/// Never waits.
///
/// # Panics
///
/// If the thread is refused; [`Builder::spawn`] returns the reason instead.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match Builder::new().spawn(f) {
        Ok(handle) => handle,
        Err(error) => panic!("failed to spawn a virtual thread: {error}"),
    }
}

/// The calling thread, virtual or not.
#[must_use]
pub fn current() -> VirtualThread {
    VirtualThread::of(current::record())
}

/// The number of the carrier that the calling virtual thread lives on; `None` on a plain OS thread.
#[must_use]
pub fn current_carrier() -> Option<usize> {
    current::carrier().map(|carrier| carrier.id())
}

/// Is the calling thread a virtual one?
#[must_use]
pub fn is_virtual() -> bool {
    current::id() != 0
}

/// Lets other ready threads run first.
///
/// # Pinning
///
/// Does nothing while pinned.
#[inline(always)]
pub fn yield_now() {
    try_yield();
}

/// [`yield_now`] that says whether the carrier was given up: false while pinned. A plain OS thread yields to
/// the operating system.
#[inline(always)]
pub fn try_yield() -> bool {
    // Without a return between the switch of stacks and the caller: it would be predicted wrongly.
    match park::way_to_the_back() {
        Some(way) => {
            way.take();
            true
        }
        None => try_yield_slowly(),
    }
}

#[cold]
fn try_yield_slowly() -> bool {
    match current::carrier() {
        None => std::thread::yield_now(),
        Some(_) if pin::is_pinned() => return false,
        Some(carrier) => park::give_way(&carrier),
    }
    true
}

/// How an interruptible sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SleepOutcome {
    /// The time is over.
    Elapsed,
    /// The thread was interrupted; its flag is clear.
    Interrupted,
}

/// Waits for at least `duration`. An interrupt does not end it and stays set. From 100 ms on it may end up to half a millisecond
/// late, to share a wake-up with others.
///
/// # Pinning
///
/// Unmounts, unless pinned: then the carrier sleeps too and `VirtualThreadPinned` is reported.
#[track_caller]
pub fn sleep(duration: Duration) {
    sleep_at(deadline_in(duration), false, Location::caller());
}

/// Waits until that moment. An interrupt does not end it and stays set.
///
/// # Pinning
///
/// As [`sleep`].
#[track_caller]
pub fn sleep_until(deadline: Instant) {
    sleep_at(Some(deadline), false, Location::caller());
}

/// [`sleep`] that an interrupt ends.
///
/// # Pinning
///
/// As [`sleep`].
#[track_caller]
pub fn sleep_interruptibly(duration: Duration) -> SleepOutcome {
    sleep_at(deadline_in(duration), true, Location::caller())
}

/// The moment after `duration`, or `None` for one beyond the clock's range: for ever.
fn deadline_in(duration: Duration) -> Option<Instant> {
    Instant::now().checked_add(duration)
}

fn sleep_at(
    deadline: Option<Instant>,
    interruptible: bool,
    at: &'static Location<'static>,
) -> SleepOutcome {
    let wait = Wait {
        deadline,
        interruptible,
        ..Wait::new(Operation::Sleep, at)
    };
    loop {
        match park::wait(park::prepare_alone(), &wait) {
            WaitOutcome::Interrupted => return SleepOutcome::Interrupted,
            WaitOutcome::Timeout => return SleepOutcome::Elapsed,
            WaitOutcome::Done => {}
        }
    }
}

/// Waits for the permit that [`VirtualThread::unpark`] gives, and takes it. Returns at once if it is there, and
/// on an interrupt, whose flag stays set. May return spuriously, as std's.
///
/// # Pinning
///
/// Unmounts, unless pinned.
#[track_caller]
pub fn park() {
    park::park(None, Location::caller());
}

/// [`park`] for at most `timeout`.
///
/// # Pinning
///
/// Unmounts, unless pinned.
#[track_caller]
pub fn park_timeout(timeout: Duration) {
    park::park(deadline_in(timeout), Location::caller());
}
