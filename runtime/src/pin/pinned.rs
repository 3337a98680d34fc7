//! Regions that must not be unmounted, and whether the calling thread is in one.

use std::panic::Location;

use crate::event::{PinReason, Subject};
use crate::pin;

pub use crate::pin::watch::{PinReport, watch};

/// Takes its pin back when dropped, so that a panic through the region keeps the balance.
pub(crate) struct PinGuard {
    reason: PinReason,
    id: u64,
}

impl PinGuard {
    pub(crate) fn enter(
        reason: PinReason,
        at: &'static Location<'static>,
        subject: Subject,
    ) -> Self {
        pin::enter(reason, at, Some(subject));
        Self {
            reason,
            id: subject.id,
        }
    }
}

impl Drop for PinGuard {
    fn drop(&mut self) {
        pin::exit(self.reason, self.id);
    }
}

/// Runs `f` as a region in which the calling virtual thread does not unmount: for code that assumes last-in-first-out
/// nesting per OS thread, such as `scoped-tls`. `label` names it in events.
///
/// ```
/// vt_runtime::thread::spawn(|| {
///     let pinned = vt_runtime::pinned::critical("scoped state", vt_runtime::pinned::is_pinned);
///     assert!(pinned);
/// })
/// .join()
/// .unwrap();
/// ```
///
/// # Pinning
///
/// A wait inside blocks the carrier and is reported with reason `critical`.
#[track_caller]
pub fn critical<T>(label: &'static str, f: impl FnOnce() -> T) -> T {
    let subject = Subject {
        kind: "critical",
        name: Some(label),
        id: 0,
    };
    let _pin = PinGuard::enter(PinReason::Critical, Location::caller(), subject);
    f()
}

/// Would a wait of the calling virtual thread block its carrier? False on a plain OS thread.
#[must_use]
pub fn is_pinned() -> bool {
    pin::is_pinned()
}
