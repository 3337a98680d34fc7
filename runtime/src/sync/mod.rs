//! Locks, conditions, channels and gates for virtual threads, in std's shapes.
//!
//! Waiting for any of them unmounts the virtual thread, and holding one over a wait does not pin it. The one
//! exception is [`Monitor`], which is there to pin. All of them work from plain OS threads too, also mixed
//! with virtual ones, wait like std's there and emit nothing.
//!
//! | to | use |
//! | --- | --- |
//! | port std code | [`Mutex`], [`RwLock`], [`Condvar`], [`Barrier`], [`Once`], [`OnceLock`], [`LazyLock`], [`mpsc`] |
//! | port parking_lot code | [`parking_lot`] |
//! | hold a lock over waits, re-enter it, name it in events | [`ReentrantLock`] with [`Condition`] |
//! | send from many threads to many, wait for several channels | [`channel`] |
//! | keep what belongs to an OS thread on it | [`Monitor`] |
//! | repair a `Monitor` that pins | [`ReentrantMonitor`] |
//! | limit how many do a thing at once | [`Semaphore`] |
//! | wait for a number of things | [`CountDownLatch`] |

pub mod channel;
mod condvar;
mod error;
mod latch;
mod monitor;
#[path = "channel/mpsc/mod.rs"]
pub mod mpsc;
mod mutex;
mod once;
pub mod parking_lot;
mod raw;
mod reentrant;
mod rw_lock;
mod semaphore;
mod wait_queue;

pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

pub use condvar::Condvar;
pub use error::{Interrupted, LockDeadlock, LockError, WaitError, WaitTimeoutResult};
pub use latch::{Barrier, BarrierWaitResult, CountDownLatch};
pub use monitor::{Monitor, MonitorGuard};
pub use mutex::{Mutex, MutexGuard};
pub use once::{LazyLock, Once, OnceLock, OnceState};
pub use reentrant::{
    Condition, ReentrantLock, ReentrantLockGuard, ReentrantMonitor, ReentrantMonitorGuard,
};
pub use rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::{Permit, Semaphore};

#[cfg(all(test, not(loom)))]
mod tests;
