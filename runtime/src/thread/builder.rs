//! Spawning with a name, a stack size or a place.

use std::sync::Arc;

use super::{JoinHandle, lent};
use crate::current;
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

    /// The thread's name, for events, dumps and fatal errors. As it is printed there, control characters in it become
    /// escapes (`\n`).
    pub fn name(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        let printable = if name.contains(char::is_control) {
            escaped(&name).into()
        } else {
            name.into()
        };
        self.spec.name = Some(printable);
        self
    }

    /// The name `<prefix><number>`, as the JDK's `Thread.Builder.name(prefix, start)`.
    pub fn name_seq(self, prefix: &str, number: u64) -> Self {
        self.name(format!("{prefix}{number}"))
    }

    /// Address space of the stack, in bytes; at least 32 KiB are set aside, whatever is asked for.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.spec.stack_size = Some(bytes);
        self
    }

    /// An OS thread of its own, for code that is known to block: the thread is the only one of its carrier, so nobody
    /// is stranded whatever it does, and undeclared blocking on it is not reported. All else works as on any virtual
    /// thread. Counts towards [`max_carriers`](crate::RuntimeBuilder::max_carriers); what it spawns runs elsewhere. Its
    /// OS thread is kept for the next one.
    ///
    /// ```
    /// use vt_runtime::thread::Builder;
    ///
    /// let legacy = Builder::new().name("legacy").dedicated_thread().spawn(|| {
    ///     // A library that blocks its OS thread and knows nothing of virtual threads.
    ///     std::sync::Mutex::new(42).into_inner().unwrap()
    /// })?;
    /// assert_eq!(legacy.join().unwrap(), 42);
    /// # Ok::<(), vt_runtime::SpawnError>(())
    /// ```
    pub fn dedicated_thread(mut self) -> Self {
        self.spec.dedicated = true;
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
        if let Some(carrier) = current::carrier() {
            return lent::spawn(self, carrier.shared(), f).map(JoinHandle::of);
        }
        let global = Runtime::try_global().map_err(|error| SpawnError::Build(Arc::new(error)))?;
        self.spawn_in(global, f)
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
        lent::spawn(self, runtime.shared(), f).map(JoinHandle::of)
    }
}

/// The name with its control characters as escapes.
fn escaped(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, char| {
        if char.is_control() {
            text.extend(char.escape_default());
        } else {
            text.push(char);
        }
        text
    })
}

impl Runtime {
    /// The current runtime, else the default one.
    pub(super) fn here() -> Self {
        Self::current().unwrap_or_else(|| Self::global().clone())
    }
}
