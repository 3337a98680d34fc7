//! Gates that open when enough has happened: [`Barrier`] in std's shape, and [`CountDownLatch`].

mod barrier;
mod count_down_latch;

pub use barrier::{Barrier, BarrierWaitResult};
pub use count_down_latch::CountDownLatch;
