//! Threads that borrow from the one that waits for them: the one place where a closure's lifetime is forgotten.
//!
//! **Invariant (lending):** whoever calls [`spawn_lent`] waits, before it returns or unwinds, until the record of
//! each such thread says that it has left (`Record::has_left`). A record says so only after the closure was run or dropped,
//! and the stack is gone; never of a thread that shutdown had to abandon, whose own borrowers may run on. The waits use `park::wait_lending`, which neither an interrupt nor a shutdown ends. The same holds
//! for a closure given to the offload pool and the completion of its job.
#![expect(
    unsafe_code,
    reason = "a borrowed closure runs on another stack while its lender waits"
)]

use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::builder::Builder;
use super::handle::wait_for_end_lending;
use super::outcome::{Packet, leave};
use crate::current;
use crate::os::{Job, Length, Pool};
use crate::park::Cancelled;
use crate::pin::native;
use crate::primitive::Body;
use crate::runtime::{Runtime, Shared, SpawnError};

type Erased = Box<dyn FnOnce() + Send + 'static>;

/// Spawns a closure that borrows nothing.
pub(super) fn spawn<F, T>(
    builder: Builder,
    runtime: &Arc<Shared>,
    f: F,
) -> Result<Packet<T>, SpawnError>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: nothing is borrowed.
    unsafe { spawn_lent(builder, runtime, f, |_| {}) }
}

/// Spawns a closure that may borrow; `then` runs at its end, with "did it panic?".
///
/// # Safety
///
/// The caller keeps the invariant of the module: it waits, lending, for the end of the returned record.
pub(super) unsafe fn spawn_lent<'a, F, T>(
    builder: Builder,
    runtime: &Arc<Shared>,
    f: F,
    then: impl FnOnce(bool) + Send + 'a,
) -> Result<Packet<T>, SpawnError>
where
    F: FnOnce() -> T + Send + 'a,
    T: Send + 'a,
{
    // SAFETY: by the lending invariant all that the closure borrows outlives the thread, and the packet too, which
    // is of this `T`.
    let body = unsafe { Body::lent(move || live::<F, T>(f, then)) };
    let record = runtime.spawn(builder.spec, body)?;
    // SAFETY: `live` leaves a result of `T`, and nobody else makes a packet of this record.
    Ok(unsafe { Packet::of(record) })
}

/// The whole life of a thread: its closure, its result, its end.
fn live<F, T>(f: F, then: impl FnOnce(bool))
where
    F: FnOnce() -> T,
    T: Send,
{
    let record = current::record();
    // Cancelled before its first instruction: it must not begin.
    if record.is_cancelled() {
        // What it captured may panic or wait when dropped: neither must unwind into the continuation.
        let dropped = catch_unwind(AssertUnwindSafe(move || drop(f)));
        let _ = dropped.map_err(std::mem::forget);
        // SAFETY: as at the end.
        unsafe { leave::<T>(&record, None) };
        record.raise_cancel_once();
        return then(false);
    }
    let result = catch_unwind(AssertUnwindSafe(f));
    crate::task::end_of_thread();
    let cancelled = result
        .as_ref()
        .is_err_and(|payload| payload.is::<Cancelled>());
    let panicked = result.is_err() && !cancelled;
    // SAFETY: called by the body that `spawn_lent` makes, together with the packet of this `T`. What the result
    // borrows, `f` borrowed.
    unsafe { leave(&record, (!cancelled).then_some(result)) };
    then(panicked);
}

/// See [`Runtime::run`].
#[track_caller]
pub(crate) fn run<F, T>(runtime: &Runtime, f: F) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    let at = Location::caller();
    // SAFETY: the lending wait below returns only after the thread has ended, and nothing between can unwind
    // once the thread exists.
    let spawned = unsafe { spawn_lent(Builder::new(), runtime.shared(), f, |_| {}) };
    let packet: Packet<T> =
        spawned.unwrap_or_else(|error| panic!("failed to spawn a virtual thread: {error}"));
    wait_for_end_lending(packet.thread.record(), at);
    match packet.take() {
        Some(Ok(value)) => value,
        Some(Err(payload)) => resume_unwind(payload),
        None => panic!("the virtual thread was cancelled by a shutdown before it had a result"),
    }
}

/// Runs `f` on a thread of `pool` and waits for it, lending. See [`crate::blocking`].
pub(crate) fn offload<F, T>(pool: &Arc<Pool>, f: F, at: &'static Location<'static>) -> T
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    let span = tracing::Span::current();
    let mut result = None;
    let place = &mut result;
    let body = Box::new(move || {
        *place = Some(catch_unwind(AssertUnwindSafe(|| span.in_scope(f))));
    });
    // SAFETY: both types differ in the lifetime only, and by the lending invariant all that the closure borrows
    // outlives it: nothing below returns or unwinds before the completion says that the closure is gone.
    let body: Erased =
        unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + '_>, Erased>(body) };
    let (job, completion) = Job::new(body, Length::Bounded);
    if let Err((job, _refused)) = pool.submit(job) {
        // No thread for it: better here, with a spare carrier if there can be one, than not at all.
        native::call_blocking_at("blocking", at, || job.run());
    }
    completion.wait_lending(at);
    match result {
        Some(Ok(value)) => value,
        Some(Err(payload)) => resume_unwind(payload),
        None => unreachable!("a job that was taken in or run in place has left its result"),
    }
}
