//! Blocking work that must not keep a carrier: sent away, or done in place with somebody else to stand in.

mod pool;

use std::io;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;

use parking_lot::Mutex;

pub(crate) use pool::{Job, Length, Pool};

use super::io::Interrupted;
use crate::current;
use crate::event::Operation;
use crate::pin::native;
use crate::thread;

/// Runs `f`, which may block the OS thread, on a pool of such threads (`vt-offload-N`) and waits for it.
///
/// `f` may borrow from the caller. On a plain OS thread it runs in place, also inside another `blocking`. It sees the
/// thread-locals of the thread it runs on. A panic of `f` goes on in the caller.
///
/// ```
/// let text = String::from("not moved");
/// let length = vt_runtime::thread::scope(|scope| {
///     scope.spawn(|| vt_runtime::blocking(|| text.len())).join().unwrap()
/// });
/// assert_eq!(length, text.len());
/// ```
///
/// # Pinning
///
/// Unmounts, unless pinned (operation `blocking`). The wait lends memory: neither an interrupt nor a shutdown ends it.
///
/// # Panics
///
/// With the panic of `f`.
#[track_caller]
pub fn blocking<T, F>(f: F) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    match current::carrier() {
        None => f(),
        Some(carrier) => thread::offload(&carrier.shared().offload, f, Location::caller()),
    }
}

/// Runs `f`, which may block, on the calling thread: for what cannot be sent to another one.
///
/// While it lasts, and if no other carrier is free, a spare one starts what has not started yet
/// (`CarrierCompensated`), up to `max_carriers` (`CompensationExhausted`). Threads that have started on this carrier
/// wait; [`blocking`] spares them that.
///
/// ```
/// let local = std::rc::Rc::new(5);
/// assert_eq!(vt_runtime::blocking_in_place(|| *local), 5);
/// ```
///
/// # Pinning
///
/// Pins for the time of `f` (reason `native`, labelled `blocking_in_place`), and is reported like a foreign call that
/// blocks.
#[track_caller]
pub fn blocking_in_place<T>(f: impl FnOnce() -> T) -> T {
    native::call_blocking_at("blocking_in_place", Location::caller(), f)
}

/// [`blocking`] for work that owns what it needs: an interrupt or a shutdown leaves it behind, so that an operating
/// system that never answers holds up nobody. It has at most half of the pool's threads.
pub(super) fn abandonable<T, F>(f: F, at: &'static Location<'static>) -> io::Result<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let Some(carrier) = current::carrier() else {
        return Ok(f());
    };
    let result = Arc::new(Mutex::new(None));
    let theirs = Arc::clone(&result);
    let body = move || *theirs.lock() = Some(catch_unwind(AssertUnwindSafe(f)));
    let (job, completion) = Job::new(Box::new(body), Length::Unbounded);
    if let Err((job, _refused)) = carrier.shared().offload.submit(job) {
        native::call_blocking_at("blocking", at, || job.run());
    }
    if !completion.wait_interruptibly(at) {
        return Err(Interrupted::error(Operation::Blocking));
    }
    let ended = result.lock().take();
    match ended {
        Some(Ok(value)) => Ok(value),
        Some(Err(payload)) => resume_unwind(payload),
        None => unreachable!("a job that has ended has left its result"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::Runtime;

    /// As for a name server that never answers.
    #[test]
    fn work_that_never_ends_is_left_behind_by_interrupt_and_shutdown() {
        let runtime = Runtime::builder()
            .carriers(1)
            .build()
            .expect("a carrier can be started");
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let spawn = || {
            let released = Arc::clone(&released);
            let never = move || released.lock().recv().is_err();
            runtime.spawn(move || abandonable(never, Location::caller()))
        };
        let (interrupted, cancelled) = (spawn(), spawn());
        while runtime
            .threads()
            .iter()
            .filter(|info| info.waits_for.is_some())
            .count()
            < 2
        {
            std::thread::yield_now();
        }
        interrupted.thread().interrupt();
        let error = interrupted
            .join()
            .expect("no panic")
            .expect_err("interrupted");
        assert!(
            error
                .get_ref()
                .is_some_and(|inner| inner.is::<Interrupted>())
        );
        let report = runtime.shutdown(Duration::ZERO);
        assert!(report.is_complete(), "{report:?}");
        drop(cancelled);
        drop(release);
    }
}
