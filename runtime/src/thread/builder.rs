//! Spawning with a name, a stack size or a place.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::outcome::{Packet, Theirs};
use super::{JoinHandle, VirtualThread};
use crate::current;
use crate::park::Cancelled;
use crate::runtime::{Runtime, SpawnError, Spec};

/// Settings of a virtual thread to come, as `std::thread::Builder`.
///
/// ```
/// let handle = vt_runtime::thread::Builder::new().name("greeter").spawn(|| "hello")?;
/// assert_eq!(handle.thread().name(), Some("greeter"));
/// assert_eq!(handle.join().unwrap(), "hello");
/// # Ok::<(), vt_runtime::SpawnError>(())
/// ```
#[derive(Default)]
#[must_use = "a builder does nothing until `spawn` is called"]
pub struct Builder {
    pub(super) spec: Spec,
}

impl Builder {
    /// Nothing special.
    pub fn new() -> Self {
        Self::default()
    }

    /// The thread's name, for events, dumps and fatal errors.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.spec.name = Some(name.into().into());
        self
    }

    /// The name `<prefix><number>`, as the JDK's `Thread.Builder.name(prefix, start)`.
    pub fn name_seq(self, prefix: &str, number: u64) -> Self {
        self.name(format!("{prefix}{number}"))
    }

    /// Address space of the stack, in bytes.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.spec.stack_size = Some(bytes);
        self
    }

    /// The carrier to live on, counted from 0: a hook for tests, which placement never needs.
    pub fn carrier(mut self, carrier: usize) -> Self {
        self.spec.carrier = Some(carrier);
        self
    }

    /// Spawns on the current runtime, or on the default one from a plain OS thread.
    ///
    /// # Errors
    ///
    /// If the thread is refused: at the limit of live threads, out of memory, after a shutdown, or when the
    /// default runtime cannot be started.
    pub fn spawn<F, T>(self, f: F) -> Result<JoinHandle<T>, SpawnError>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let current = Runtime::current();
        let runtime = match &current {
            Some(runtime) => runtime,
            None => Runtime::try_global().map_err(|error| SpawnError::Build(Arc::new(error)))?,
        };
        self.spawn_in(runtime, f)
    }

    /// Spawns on that runtime.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    pub fn spawn_in<F, T>(self, runtime: &Runtime, f: F) -> Result<JoinHandle<T>, SpawnError>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (body, packet) = package(f);
        let record = runtime.shared().spawn(self.spec, body)?;
        Ok(JoinHandle {
            thread: VirtualThread { record },
            packet,
        })
    }
}

fn package<'a, F, T>(f: F) -> (Box<dyn FnOnce() + Send + 'a>, Packet<T>)
where
    F: FnOnce() -> T + Send + 'a,
    T: Send + 'a,
{
    package_then(f, |_| {})
}

/// The whole life of a thread: its closure, its result, and `then` with "did it panic?".
pub(super) fn package_then<'a, F, T>(
    f: F,
    then: impl FnOnce(bool) + Send + 'a,
) -> (Box<dyn FnOnce() + Send + 'a>, Packet<T>)
where
    F: FnOnce() -> T + Send + 'a,
    T: Send + 'a,
{
    let packet = Packet::default();
    let theirs = Theirs::of(&packet);
    let body = Box::new(move || {
        // Cancelled before its first instruction: it must not begin.
        if current::record().is_cancelled() {
            // What it captured may panic or wait when dropped: neither must unwind into the continuation.
            let dropped = catch_unwind(AssertUnwindSafe(move || drop((f, theirs))));
            let _ = dropped.map_err(std::mem::forget);
            current::record().raise_cancel_once();
            return then(false);
        }
        let result = catch_unwind(AssertUnwindSafe(f));
        crate::task::end_of_thread();
        let panicked = result
            .as_ref()
            .is_err_and(|payload| !payload.is::<Cancelled>());
        if panicked || result.is_ok() {
            // A result whose handle is gone is dropped here, on the thread it belongs to; a destructor that
            // panics must not unwind into the continuation.
            let dropped = catch_unwind(AssertUnwindSafe(move || {
                theirs.leave(result);
            }));
            // Its payload may panic in turn when dropped.
            let _ = dropped.map_err(std::mem::forget);
        } else {
            drop(theirs);
        }
        then(panicked);
    });
    (body, packet)
}

impl Runtime {
    /// The current runtime, else the default one.
    pub(super) fn here() -> Self {
        Self::current().unwrap_or_else(|| Self::global().clone())
    }
}
