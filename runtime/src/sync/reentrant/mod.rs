//! `ReentrantLock`, its `Condition`, and `ReentrantMonitor`: reentrant locks that never pin.

mod condition;
mod guard;
mod lock;
mod monitor;

pub use condition::Condition;
pub use guard::ReentrantLockGuard;
pub use lock::ReentrantLock;
pub use monitor::{ReentrantMonitor, ReentrantMonitorGuard};
