//! The runtime: carriers, their threads and their events, as one value; and the default one.
//!
//! Shutdown, in this order: (1) spawns are refused; (2) after the grace period every thread at a cancellable wait
//! unwinds; (3) what remains is reported, never freed; (4) carriers end when no thread is left on any of them.

mod builder;
mod compensation;
mod idle;
mod metrics;
mod registry;
mod settings;
mod shared;
mod shutdown;

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

pub use builder::{BuildError, RuntimeBuilder};
pub(crate) use metrics::PinCounters;
pub use metrics::{CarrierPins, Metrics, OffloadMetrics, PinnedHistogram, PinnedSite, PinnedTime};
pub(crate) use registry::NOWHERE;
pub use settings::{DeadlockPolicy, SettingError};
pub(crate) use shared::{Shared, Spec};
pub use shutdown::ShutdownReport;

use crate::continuation::{StackError, StackPool};
use crate::current;
use crate::primitive::Ordering;
use crate::thread::{self, JoinHandle, ThreadInfo};

/// Why a virtual thread could not be spawned.
#[derive(Debug)]
#[non_exhaustive]
pub enum SpawnError {
    /// As many virtual threads are live as may be, or memory for another stack was refused.
    StackLimit {
        /// Virtual threads alive.
        live: usize,
        /// Virtual threads allowed.
        cap: usize,
        /// What the operating system said, where it was asked.
        error: Option<std::io::Error>,
    },
    /// The runtime is shut down.
    ShutDown,
    /// `Builder::carrier` names a carrier that does not exist.
    NoSuchCarrier {
        /// The number asked for.
        carrier: usize,
        /// Carriers there are.
        carriers: usize,
    },
    /// No carrier for a [dedicated](thread::Builder::dedicated_thread) thread: there are as many as may be, or the
    /// OS thread was refused.
    NoCarrier {
        /// Carriers there are.
        live: usize,
        /// Carriers there may be.
        max: usize,
        /// What the operating system said, where it was asked.
        error: Option<std::io::Error>,
    },
    /// The default runtime could not be started.
    Build(Arc<BuildError>),
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StackLimit {
                live,
                cap,
                error: None,
            } => {
                write!(
                    f,
                    "the limit of {cap} virtual threads is reached ({live} live); raise max_threads or the memory it was computed from"
                )
            }
            Self::StackLimit {
                live,
                cap,
                error: Some(error),
            } => {
                write!(
                    f,
                    "no stack for another virtual thread ({live} live, limit {cap}): {error}; raise the limit of address space (ulimit -v) or vm.max_map_count"
                )
            }
            Self::ShutDown => f.write_str("the runtime is shut down"),
            Self::NoSuchCarrier { carrier, carriers } => {
                write!(
                    f,
                    "there is no carrier {carrier}: the runtime has {carriers}, counted from 0"
                )
            }
            Self::NoCarrier {
                live,
                max,
                error: None,
            } => {
                write!(
                    f,
                    "no carrier for a dedicated thread: {live} live, limit {max}; raise max_carriers"
                )
            }
            Self::NoCarrier {
                live,
                max,
                error: Some(error),
            } => {
                write!(
                    f,
                    "no OS thread for a dedicated thread ({live} carriers live, limit {max}): {error}; raise the limit of processes (ulimit -u) or of memory"
                )
            }
            Self::Build(error) => write!(f, "the default runtime could not be started: {error}"),
        }
    }
}

impl std::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::StackLimit {
                error: Some(error), ..
            }
            | Self::NoCarrier {
                error: Some(error), ..
            } => Some(error),
            Self::Build(error) => Some(&**error),
            _ => None,
        }
    }
}

impl SpawnError {
    fn no_stack(error: StackError, pool: &StackPool) -> Self {
        match error {
            StackError::Limit { live, cap } => Self::StackLimit {
                live,
                cap,
                error: None,
            },
            StackError::Refused(error) => Self::StackLimit {
                live: pool.live(),
                cap: pool.cap(),
                error: Some(error),
            },
        }
    }
}

/// A set of carriers with the virtual threads that live on them.
///
/// A value is a handle: clones mean the same runtime. When the last handle is dropped, no new thread can be
/// spawned from outside, and the carriers end after the threads that live on them.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
    /// Stops the runtime with the last handle. `None` in a handle made after that.
    _owner: Option<Arc<Owner>>,
}

/// Stops its runtime when the last handle goes.
pub(crate) struct Owner(Weak<Shared>);

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.stop();
        }
    }
}

static GLOBAL: OnceLock<Runtime> = OnceLock::new();

impl Runtime {
    /// Settings for a new runtime.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::new()
    }

    fn own(shared: Arc<Shared>) -> Self {
        let owner = Arc::new(Owner(Arc::downgrade(&shared)));
        shared.set_owner(&owner);
        Self {
            shared,
            _owner: Some(owner),
        }
    }

    /// The default runtime, started on first use. Its events are flushed when the process exits.
    ///
    /// # Panics
    ///
    /// If it cannot be started; [`try_global`](Self::try_global) returns the reason instead.
    pub fn global() -> &'static Self {
        Self::try_global()
            .unwrap_or_else(|error| panic!("the default runtime could not be started: {error}"))
    }

    /// The default runtime, or why it could not be started. A later call tries again.
    ///
    /// # Errors
    ///
    /// As [`RuntimeBuilder::build`].
    pub fn try_global() -> Result<&'static Self, BuildError> {
        if let Some(runtime) = GLOBAL.get() {
            return Ok(runtime);
        }
        // The loser of a race drops its runtime, which ends at once.
        let built = Self::builder().build()?;
        let runtime = GLOBAL.get_or_init(|| built);
        runtime.shared.hub.flush_at_exit();
        Ok(runtime)
    }

    /// The runtime of the calling virtual thread; `None` on a plain OS thread.
    #[must_use]
    pub fn current() -> Option<Self> {
        let carrier = current::carrier()?;
        let shared = Arc::clone(carrier.shared());
        let owner = shared.owner();
        Some(Self {
            shared,
            _owner: owner,
        })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Spawns a virtual thread here.
    ///
    /// # Panics
    ///
    /// If it is refused; [`Builder::spawn_in`](thread::Builder::spawn_in) returns the reason instead.
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match thread::Builder::new().spawn_in(self, f) {
            Ok(handle) => handle,
            Err(error) => panic!("failed to spawn a virtual thread: {error}"),
        }
    }

    /// Runs `f` as a virtual thread of this runtime and returns its result when it has ended. `f` may borrow.
    ///
    /// # Pinning
    ///
    /// From a virtual thread it unmounts while it waits.
    ///
    /// # Panics
    ///
    /// With the panic of `f`, or if the thread is refused.
    #[track_caller]
    pub fn run<F, T>(&self, f: F) -> T
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        thread::run(self, f)
    }

    /// What is live, and what was counted since the start.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        Metrics {
            carriers: self.shared.carriers().count(),
            live: self.shared.stacks.live_roughly(),
            max_threads: self.shared.stacks.cap(),
            leaked_stacks: self.shared.stacks.leaked(),
            mounts: self
                .shared
                .carriers()
                .map(|carrier| carrier.mounts.load(Ordering::Relaxed))
                .sum(),
            spawned: self.shared.counters.spawned(),
            refused: self.shared.counters.refused(),
            pinned: {
                let carriers = self.shared.carriers();
                let counted = carriers.map(|carrier| &carrier.pins);
                self.shared.counters.pinned(counted)
            },
            carrier_pins: crate::watchdog::by_carrier(&self.shared),
            pinned_sites: crate::watchdog::by_site(&self.shared),
            events: self.shared.hub.delivery(),
            offload: self.shared.offload.metrics(),
        }
    }

    /// Every virtual thread queued or started and not ended, by id.
    ///
    /// Takes about a microsecond for each thread, and some hundred bytes. No carrier waits for it: threads that come and
    /// go meanwhile are not held up, and may be listed or not.
    #[must_use]
    pub fn threads(&self) -> Vec<ThreadInfo> {
        let mut dump = thread::Dump::new();
        let records = self.shared.records();
        records.iter().map(|record| dump.entry(record)).collect()
    }

    /// [`threads`](Self::threads) with the stacks of those that wait, pinned or not, where the build keeps frame
    /// pointers. Takes a few microseconds for each thread and stops none.
    #[must_use]
    pub fn thread_dump(&self) -> Vec<ThreadInfo> {
        let stacks = thread::Stacks::open();
        let mut dump = thread::Dump::new();
        let records = self.shared.records();
        let with_stack = |record: &Arc<_>| ThreadInfo {
            stack: stacks.of(record),
            ..dump.entry(record)
        };
        records.iter().map(with_stack).collect()
    }

    /// How many virtual threads are in each state, cheaply: for metrics.
    #[must_use]
    pub fn thread_states(&self) -> Vec<(thread::ThreadState, usize)> {
        let mut counts = thread::ThreadState::LIVE.map(|state| (state, 0));
        self.shared.each_record(|record| {
            let state = thread::ThreadState::of(record);
            if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == state) {
                *count += 1;
            }
        });
        counts.to_vec()
    }

    /// How long pins took since the runtime started, by site and by what was held, below the threshold too; declared
    /// foreign calls that blocked from 0.1 ms. Undeclared blocking has events only.
    #[must_use]
    pub fn pin_sites(&self) -> Vec<crate::event::PinSite> {
        self.shared.hub.pin_sites()
    }

    /// The waits and declared foreign calls that keep a carrier at this moment, with how long so far.
    #[must_use]
    pub fn open_pins(&self) -> Vec<crate::event::Pinned> {
        crate::watchdog::open_pins(&self.shared)
    }

    /// Each carrier that runs, by its number, with the operating system's id of its thread.
    #[must_use]
    pub fn carrier_threads(&self) -> Vec<(usize, u32)> {
        let carriers = self.shared.carriers();
        let ids = carriers.map(|carrier| (carrier.id, carrier.tid.load(Ordering::Relaxed)));
        ids.filter(|(_, thread)| *thread != 0).collect()
    }

    /// The duration from which a pinned wait is reported.
    #[must_use]
    pub fn pin_threshold(&self) -> Duration {
        Duration::from_nanos(self.shared.hub.threshold_ns())
    }

    /// Changes the duration from which a pinned wait is reported; it holds for waits that end from now on.
    pub fn set_pin_threshold(&self, threshold: Duration) {
        self.shared.hub.set_threshold(threshold);
    }

    /// Hands every event recorded before the call to the subscriber. False if that took longer than five seconds.
    pub fn flush_events(&self) -> bool {
        // Off the carriers: the subscriber may wait for a thread that lives on this one.
        crate::blocking(|| self.shared.flush_events(Duration::from_secs(5)))
    }

    /// A reader of this runtime's events with a cursor of its own, for recorders.
    #[must_use]
    pub fn event_reader(&self) -> crate::event::Reader {
        self.shared.hub.reader()
    }

    /// Refuses new threads, lets live ones end for `limit`, then cancels those at a cancellable wait and reports
    /// what is left. Never frees a live stack.
    ///
    /// # Pinning
    ///
    /// Called from a virtual thread of this runtime it does not wait for that thread.
    pub fn shutdown(&self, limit: Duration) -> ShutdownReport {
        shutdown::shut_down(&self.shared, limit)
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("live", &self.shared.stacks.live())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
