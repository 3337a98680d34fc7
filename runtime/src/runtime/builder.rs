//! Builds a runtime: settings, events, carriers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tracing::Dispatch;

use super::settings::{DeadlockPolicy, MOST_CARRIERS, MOST_EVENTS, SettingError, Settings};
use super::shared::NoCarrier;
use super::{Runtime, Shared};
use crate::carrier::Role;
use crate::continuation::{self, Stacks};
use crate::event::Hub;
use crate::watchdog;

/// Why a runtime could not be built.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// A `VT_*` variable has a value that cannot be used.
    Setting(SettingError),
    /// A number given to the builder makes no runtime.
    Invalid(&'static str),
    /// A carrier's OS thread or its descriptors were refused.
    Carrier {
        /// Carriers that had been started before.
        started: usize,
        /// What the operating system said.
        error: std::io::Error,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(error) => error.fmt(f),
            Self::Invalid(text) => f.write_str(text),
            Self::Carrier { started, error } => write!(
                f,
                "carrier {started} could not be started ({started} live): {error}; lower the number of carriers, or raise the limits of processes (ulimit -u), open files (ulimit -n) and address space (ulimit -v)"
            ),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Setting(error) => Some(error),
            Self::Invalid(_) => None,
            Self::Carrier { error, .. } => Some(error),
        }
    }
}

/// Settings of a [`Runtime`] to come. `VT_*` variables are the defaults; a call here wins over them.
///
/// ```
/// use std::time::Duration;
///
/// let runtime = vt_runtime::Runtime::builder()
///     .carriers(2)
///     .pin_threshold(Duration::from_millis(5))
///     .build()?;
/// assert_eq!(runtime.run(|| 6 * 7), 42);
/// # Ok::<(), vt_runtime::BuildError>(())
/// ```
#[derive(Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct RuntimeBuilder {
    settings: Result<Settings, SettingError>,
    dispatch: Option<Dispatch>,
    invalid: Option<&'static str>,
}

impl RuntimeBuilder {
    pub(super) fn new() -> Self {
        Self {
            settings: Settings::from_environment(),
            dispatch: None,
            invalid: None,
        }
    }

    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        if let Ok(settings) = &mut self.settings {
            change(settings);
        }
        self
    }

    fn positive(mut self, value: usize, complaint: &'static str) -> Self {
        if value == 0 {
            self.invalid.get_or_insert(complaint);
        }
        self
    }

    fn countable(mut self, carriers: usize) -> Self {
        if carriers > MOST_CARRIERS {
            self.invalid
                .get_or_insert("a runtime has at most 4096 carriers");
        }
        self.positive(carriers, "a runtime needs at least one carrier")
    }

    /// Which backend switches stacks (`VT_STACKS`).
    pub fn stacks(self, stacks: Stacks) -> Self {
        self.set(|settings| settings.stacks = stacks)
    }

    /// How many carriers run virtual threads (`VT_CARRIERS`; by default one for each core, at least two).
    pub fn carriers(self, carriers: usize) -> Self {
        self.countable(carriers).set(|settings| {
            settings.carriers = carriers;
            settings.max_carriers = settings.max_carriers.max(carriers);
        })
    }

    /// How many carriers there may be, spare ones included (`VT_MAX_CARRIERS`).
    pub fn max_carriers(self, carriers: usize) -> Self {
        self.countable(carriers)
            .set(|settings| settings.max_carriers = carriers)
    }

    /// How many OS threads at most do what [`blocking`](crate::blocking) sends away; by default 64. Names are looked up by
    /// at most half of them, so that a name server that never answers leaves room for the rest.
    pub fn offload_threads(self, threads: usize) -> Self {
        self.positive(threads, "the offload pool needs at least one thread")
            .set(|settings| settings.offload_threads = threads)
    }

    /// Whether pinned waits are compensated by spare carriers, as declared blocking is; by default not, so that
    /// pins show as what they are.
    pub fn compensate_pinned(self, compensate: bool) -> Self {
        self.set(|settings| settings.compensate_pinned = compensate)
    }

    /// How many virtual threads may be live at a time; by default what memory and the kernel's limits allow.
    pub fn max_threads(self, threads: usize) -> Self {
        self.set(|settings| settings.max_threads = Some(threads))
    }

    /// Address space of a virtual thread's stack, in bytes (`VT_STACK_SIZE`). Only touched pages take memory.
    pub fn stack_size(self, bytes: usize) -> Self {
        self.set(|settings| settings.stack_size = bytes)
    }

    /// From which duration a pinned wait is reported (`VT_PIN_THRESHOLD`; 20 ms as in the JDK; zero reports all).
    pub fn pin_threshold(self, threshold: Duration) -> Self {
        self.set(|settings| settings.pin_threshold = threshold)
    }

    /// What to do about a deadlock in which carriers take part.
    pub fn deadlock_policy(self, policy: DeadlockPolicy) -> Self {
        self.set(|settings| settings.deadlock_policy = policy)
    }

    /// How many pins a carrier keeps until they are delivered; older ones are counted as dropped.
    pub fn event_capacity(self, events: usize) -> Self {
        let mut this = self.positive(events, "the event capacity must be at least one");
        if events > MOST_EVENTS {
            this.invalid
                .get_or_insert("the event capacity is at most 65536 pins for each carrier");
        }
        this.set(|settings| settings.event_capacity = events)
    }

    /// How many frames of its stack a pin's event has at most: 64 by default as in the JDK, at most 128; 0 for none.
    pub fn stack_depth(self, frames: usize) -> Self {
        self.set(|settings| settings.stack_depth = frames)
    }

    /// Where the watchdog looks instead of `/proc`.
    #[cfg(test)]
    pub(crate) fn procfs(self, root: std::path::PathBuf) -> Self {
        self.set(|settings| settings.procfs = root)
    }

    /// Where events go, and the carriers' default subscriber. Without it events go to the default at emission.
    pub fn dispatch(mut self, dispatch: Dispatch) -> Self {
        self.dispatch = Some(dispatch);
        self
    }

    /// What the carriers' OS threads are called, with `-<number>` appended.
    pub fn thread_name(self, name: impl Into<String>) -> Self {
        self.set(|settings| settings.thread_name = name.into())
    }

    /// Starts the runtime.
    ///
    /// # Errors
    ///
    /// A `VT_*` variable or a number that makes no sense, or an OS thread that was refused.
    pub fn build(self) -> Result<Runtime, BuildError> {
        if let Some(complaint) = self.invalid {
            return Err(BuildError::Invalid(complaint));
        }
        let settings = self.settings.map_err(BuildError::Setting)?;
        if settings.max_carriers < settings.carriers {
            return Err(BuildError::Invalid(
                "max_carriers is lower than carriers: raise the one or lower the other",
            ));
        }
        if settings.thread_name.contains('\0') {
            return Err(BuildError::Invalid(
                "thread_name must not contain a null byte",
            ));
        }
        continuation::install_fault_handler();
        let carriers = settings.carriers;
        let hub = Hub::new(
            settings.max_carriers,
            settings.event_capacity,
            settings.pin_threshold,
            self.dispatch.clone(),
        );
        hub.set_stack_depth(settings.stack_depth);
        let shared = Arc::new(Shared::new(settings, hub, self.dispatch));
        let names = Arc::downgrade(&shared);
        shared
            .hub
            .name_threads(Box::new(move |id| names.upgrade()?.name_of(id)));
        for started in 0..carriers {
            match shared.start_carrier(Role::Regular) {
                Ok(_) => {}
                Err(NoCarrier::Os(error)) => {
                    shared.stop();
                    return Err(BuildError::Carrier { started, error });
                }
                Err(NoCarrier::Cap) => {
                    unreachable!("max_carriers was compared with carriers above")
                }
            }
        }
        if let Err(error) = watchdog::start(&shared) {
            shared.stop();
            return Err(BuildError::Carrier {
                started: carriers,
                error,
            });
        }
        let gathered = Arc::downgrade(&shared);
        shared.hub.gather_with(move |limit| {
            if let Some(shared) = gathered.upgrade() {
                watchdog::look_now(&shared, limit);
            }
        });
        Ok(Runtime::own(shared))
    }
}
