//! Channels with many senders and many receivers, and waiting for several of them: crossbeam's shape.
//!
//! ```
//! use std::time::Duration;
//! use vt_runtime::sync::channel::{self, select};
//! use vt_runtime::thread;
//!
//! let (jobs, inbox) = channel::bounded(10);
//! let (results, outbox) = channel::unbounded();
//! for _ in 0..4 {
//!     let (inbox, results) = (inbox.clone(), results.clone());
//!     thread::spawn(move || inbox.iter().for_each(|n: u32| results.send(n * n).unwrap()));
//! }
//! for n in 0..10 {
//!     jobs.send(n).unwrap();
//! }
//! let mut sum = 0;
//! for _ in 0..10 {
//!     select! {
//!         recv(outbox) -> square => sum += square.unwrap(),
//!         default(Duration::from_secs(30)) => panic!("no result"),
//!     }
//! }
//! assert_eq!(sum, 285);
//! ```
//!
//! All of it works from plain OS threads too, also with the other half on virtual ones. [`mpsc`](super::mpsc) is std's
//! shape, for one receiver; it costs a little less.

mod buffer;
mod clock;
mod error;
pub(super) mod iterators;
mod macros;
mod meeting;
mod receiver;
mod select;
mod sender;
mod standing;

use std::sync::Arc;
use std::time::{Duration, Instant};

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

pub use super::mpsc::InterruptibleRecvError;
pub use crate::__select as select;
use buffer::Buffer;
use clock::Clock;
pub use error::{SelectTimeoutError, SendTimeoutError, TrySelectError};
pub use receiver::{IntoIter, Iter, Receiver, TryIter};
pub use select::{Select, SelectedOperation};
pub use sender::Sender;

/// A channel without a limit: sending never waits.
///
/// # Pinning
///
/// Never waits.
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    both(None)
}

/// A channel that holds at most `bound` messages: sending waits for room. With 0 each message is handed over from
/// thread to thread.
///
/// # Pinning
///
/// Never waits.
///
/// ```
/// use vt_runtime::sync::channel::{self, TrySendError};
///
/// let (sender, receiver) = channel::bounded(1);
/// sender.send('a').unwrap();
/// assert_eq!(sender.try_send('b'), Err(TrySendError::Full('b')));
/// assert_eq!(receiver.recv(), Ok('a'));
/// ```
#[must_use]
pub fn bounded<T>(bound: usize) -> (Sender<T>, Receiver<T>) {
    both(Some(bound))
}

fn both<T>(bound: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let buffer = Arc::new(Buffer::new(bound));
    buffer.add_sender();
    buffer.add_receiver();
    (Sender::new(Arc::clone(&buffer)), Receiver::new(buffer))
}

/// A channel on which one message comes, `delay` from now: the moment it was due.
///
/// # Pinning
///
/// Never waits.
///
/// ```
/// use std::time::Duration;
/// use vt_runtime::sync::channel::{after, never, select};
///
/// let nothing = never::<()>();
/// select! {
///     recv(nothing) -> _ => unreachable!(),
///     recv(after(Duration::from_millis(1))) -> moment => assert!(moment.is_ok()),
/// }
/// ```
#[must_use]
pub fn after(delay: Duration) -> Receiver<Instant> {
    Receiver::of_clock(Clock::once(Instant::now().checked_add(delay)), |due| due)
}

/// A channel on which a message comes each `period`: the moment it was due. At most one waits to be received.
///
/// # Pinning
///
/// Never waits.
#[must_use]
pub fn tick(period: Duration) -> Receiver<Instant> {
    Receiver::of_clock(Clock::each(period), |due| due)
}

/// A channel on which no message ever comes, and which never ends.
///
/// # Pinning
///
/// Never waits.
#[must_use]
pub fn never<T>() -> Receiver<T> {
    Receiver::of_clock(Clock::once(None), |_| {
        unreachable!("a clock without a deadline is never due")
    })
}
