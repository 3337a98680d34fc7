//! What waits for the world outside, with std's names: sockets, work that blocks by other means, and futures.
//!
//! Everything here waits through the door of [`crate::park`]; on a plain OS thread it waits as std does. The public
//! paths are in the crate's root (`vt_runtime::net`).

pub mod fs;
pub mod future;
pub mod io;
pub mod net;
pub mod process;

mod blocking;
mod limits;
mod polled;

pub(crate) use blocking::{Job, Length, Pool};
pub use blocking::{blocking, blocking_in_place};
