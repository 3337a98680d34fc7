//! The runtime's sources, as they are; only `raw/attempt.rs` is the models' own.

pub(crate) mod channel;
pub(crate) mod raw;
#[path = "../../../runtime/src/sync/semaphore.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    reason = "the models need a part of what is public elsewhere"
)]
mod semaphore;
#[path = "../../../runtime/src/sync/wait_queue/mod.rs"]
pub(crate) mod wait_queue;

pub(crate) use semaphore::Semaphore;

/// As the runtime's.
#[derive(Debug)]
pub(crate) struct Interrupted;
