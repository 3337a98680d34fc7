//! At process exit, events recorded last are still emitted: a hook of the C library's `exit`, which both
//! `main`'s return and [`std::process::exit`] come to.
//!
//! The hook waits for `vt-events`, which is alive until the process is gone, and for a bounded time:
//! a subscriber that waits for something the exiting thread holds costs a second, not a hang.
#![expect(unsafe_code, reason = "registers an exit handler with the C library")]

use std::panic::catch_unwind;
use std::sync::{Arc, Once, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Service;

/// How long an exit waits for all hubs together.
const LIMIT: Duration = Duration::from_secs(1);

static HUBS: Mutex<Vec<Weak<Service>>> = Mutex::new(Vec::new());

/// Flushes `service` at exit, if it still lives then.
pub(in crate::event) fn flush(service: &Arc<Service>) {
    static HOOK: Once = Once::new();
    let mut hubs = HUBS.lock();
    hubs.retain(|hub| hub.strong_count() > 0);
    hubs.push(Arc::downgrade(service));
    drop(hubs);
    HOOK.call_once(|| {
        // SAFETY: `at_exit` is a function that stays for the life of the process, takes nothing and
        // does not unwind into the C library. A refusal (no memory) only means no flush at exit.
        let _ = unsafe { libc::atexit(at_exit) };
    });
}

extern "C" fn at_exit() {
    // The panic hook has printed; at exit there is nobody left to tell.
    let _ = catch_unwind(|| {
        let deadline = Instant::now() + LIMIT;
        // Held by nobody for long, unless a fork copied it locked.
        let Some(hubs) = HUBS.try_lock_until(deadline) else {
            return;
        };
        let services: Vec<_> = hubs.iter().filter_map(Weak::upgrade).collect();
        drop(hubs);
        for service in services {
            service.flush(deadline.saturating_duration_since(Instant::now()));
        }
    });
}

#[cfg(test)]
mod tests;
