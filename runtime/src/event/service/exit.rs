//! At process exit, events recorded last are still emitted: a hook of the C library's `exit`, which both
//! `main`'s return and [`std::process::exit`] come to.
//!
//! The hook waits for `vt-events`, which is alive until the process is gone, and for a bounded time:
//! a subscriber that waits for something the exiting thread holds costs a second, not a hang.
#![expect(unsafe_code, reason = "registers an exit handler with the C library")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Once, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Service;

/// How long an exit waits for all hubs together.
const LIMIT: Duration = Duration::from_secs(1);

static HUBS: Mutex<Vec<Weak<Service>>> = Mutex::new(Vec::new());

type Last = Box<dyn FnOnce() + Send>;

/// What recorders do last.
static LAST: Mutex<Vec<Last>> = Mutex::new(Vec::new());

/// Flushes `service` at exit, if it still lives then.
pub(in crate::event) fn flush(service: &Arc<Service>) {
    let mut hubs = HUBS.lock();
    hubs.retain(|hub| hub.strong_count() > 0);
    hubs.push(Arc::downgrade(service));
    drop(hubs);
    register();
}

/// Runs `last` when the process exits (`main` returns, or `std::process::exit`), after the events were
/// handed to the subscriber: for recorders that write what they have. It runs once, on the exiting
/// thread, may take its time, and must not wait for other threads of the program without a limit.
pub fn at_exit(last: impl FnOnce() + Send + 'static) {
    LAST.lock().push(Box::new(last));
    register();
}

/// The process that asked. A forked child has neither its threads nor its files to write.
static PROCESS: AtomicU32 = AtomicU32::new(0);

fn register() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        PROCESS.store(std::process::id(), Ordering::Relaxed);
        // SAFETY: `exiting` is a function that stays for the life of the process, takes nothing and
        // does not unwind into the C library. A refusal (no memory) only means no flush at exit.
        let _ = unsafe { libc::atexit(exiting) };
    });
}

extern "C" fn exiting() {
    if std::process::id() != PROCESS.load(Ordering::Relaxed) {
        return;
    }
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
    let last = LAST
        .try_lock_for(LIMIT)
        .map(|mut last| std::mem::take(&mut *last));
    for last in last.into_iter().flatten() {
        let _ = catch_unwind(AssertUnwindSafe(last));
    }
}

#[cfg(test)]
mod tests;
