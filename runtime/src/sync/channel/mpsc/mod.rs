//! [`std::sync::mpsc`] for virtual threads: many send, one receives.
//!
//! ```
//! use vt_runtime::sync::mpsc;
//! use vt_runtime::thread;
//!
//! let (sender, receiver) = mpsc::channel();
//! for n in 0..3 {
//!     let sender = sender.clone();
//!     thread::spawn(move || sender.send(n).unwrap());
//! }
//! drop(sender);
//! assert_eq!(receiver.iter().sum::<i32>(), 3);
//! ```

mod channel;
mod hand;
mod receiver;
mod sender;

use std::fmt;
use std::sync::Arc;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use channel::Channel;
pub use receiver::{IntoIter, Iter, Receiver, TryIter};
pub use sender::{Sender, SyncSender};

/// A channel without a limit: sending never waits.
///
/// # Pinning
///
/// Never waits.
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(None));
    (Sender::new(Arc::clone(&channel)), Receiver::new(channel))
}

/// A channel that holds at most `bound` messages: sending waits for room. With 0 each message is handed over from
/// thread to thread.
///
/// # Pinning
///
/// Never waits.
///
/// ```
/// use vt_runtime::sync::mpsc;
/// use vt_runtime::thread;
///
/// let (sender, receiver) = mpsc::sync_channel(0);
/// let handed = thread::spawn(move || sender.send(1));
/// assert_eq!(receiver.recv(), Ok(1));
/// handed.join().unwrap().unwrap();
/// ```
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(Some(bound)));
    (
        SyncSender::new(Arc::clone(&channel)),
        Receiver::new(channel),
    )
}

/// Why [`Receiver::recv_interruptibly`] got no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InterruptibleRecvError {
    /// No message is left, and no sender.
    Disconnected,
    /// The thread was interrupted; its flag is clear again.
    Interrupted,
}

impl fmt::Display for InterruptibleRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disconnected => "receiving on an empty channel without senders",
            Self::Interrupted => "interrupted while waiting for a message",
        })
    }
}

impl std::error::Error for InterruptibleRecvError {}
