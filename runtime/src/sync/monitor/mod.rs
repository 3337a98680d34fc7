//! [`Monitor`]: the lock that pins.

mod guard;

use std::fmt;
use std::panic::Location;
use std::time::Duration;

pub use guard::MonitorGuard;

use crate::event::{Operation, Subject};
use crate::sync::error::{WaitError, WaitTimeoutResult};
use crate::sync::raw::attempt::{self, Attempt, GaveUp};
use crate::sync::raw::condition::RawCondition;
use crate::sync::raw::level::Level;
use crate::sync::raw::monitor::RawMonitor;
use crate::sync::raw::protected::ReentrantCell;

/// A reentrant lock owned by the carrier, with one condition: what `synchronized` is in Java up to 23.
///
/// While a virtual thread is inside, it is **pinned**: it keeps its carrier at every wait, and each wait that
/// takes long is a `VirtualThreadPinned` event. Entering blocks the carrier too if somebody is inside. So it is for
/// short regions without waits, and for what belongs to an OS thread. Where a region waits, use
/// [`ReentrantLock`](super::ReentrantLock), or [`ReentrantMonitor`](super::ReentrantMonitor), which has the
/// same methods.
///
/// On a plain OS thread it is an ordinary reentrant lock. Guards give `&T` only, because a thread may have several
/// at once. There is no poisoning.
///
/// ```
/// use std::cell::Cell;
/// use vt_runtime::sync::Monitor;
///
/// static HITS: Monitor<Cell<u32>> = Monitor::named("hits", Cell::new(0));
/// let hits = HITS.enter();
/// hits.set(hits.get() + 1);
/// assert_eq!(HITS.enter().get(), 1); // the holder enters again
/// ```
pub struct Monitor<T: ?Sized> {
    name: Option<&'static str>,
    condition: RawCondition,
    cell: ReentrantCell<RawMonitor, T>,
}

impl<T> Monitor<T> {
    /// A monitor around `value` with nobody inside.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self::make(None, value)
    }

    /// A monitor that events and dumps call `name`.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn named(name: &'static str, value: T) -> Self {
        Self::make(Some(name), value)
    }

    const fn make(name: Option<&'static str>, value: T) -> Self {
        let cell = ReentrantCell::new(RawMonitor::new(), value);
        Self {
            name,
            condition: RawCondition::new(),
            cell,
        }
    }

    /// The value, without a monitor.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn into_inner(self) -> T {
        self.cell.into_inner()
    }
}

impl<T: ?Sized> Monitor<T> {
    /// Enters, waiting if another thread is inside. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Pins the virtual thread until the guard is dropped. If it has to wait, it blocks its carrier, which is
    /// a pinned wait with the operation `monitor_enter`.
    #[inline]
    #[track_caller]
    pub fn enter(&self) -> MonitorGuard<'_, T> {
        let level = match self.raw().enter_at_once(Location::caller(), self.subject()) {
            Some(level) => level,
            None => self.enter_waiting(),
        };
        self.guard(level)
    }

    #[cold]
    #[track_caller]
    fn enter_waiting(&self) -> Level<'_, RawMonitor> {
        let mut attempt = Attempt::new(Operation::MonitorEnter).about(self.subject());
        match self
            .raw()
            .enter(Location::caller(), self.subject(), &mut attempt)
        {
            Ok(level) => level,
            Err(gave_up) => unreachable!("a wait without an end gave up: {gave_up:?}"),
        }
    }

    /// Enters if no other thread is inside.
    ///
    /// # Pinning
    ///
    /// Never waits. Pins the virtual thread until the guard is dropped.
    #[track_caller]
    pub fn try_enter(&self) -> Option<MonitorGuard<'_, T>> {
        self.raw()
            .try_enter(Location::caller(), self.subject())
            .map(|level| self.guard(level))
    }

    /// Waits for a notice, outside; inside again, as deep as before, when it returns. It may return without a
    /// notice, so wait in a loop over what you wait for.
    ///
    /// # Pinning
    ///
    /// Gives this monitor's pins back while it waits, so the thread unmounts unless something else pins it.
    /// In that case this is one pinned wait with the operation `monitor_wait`, which lasts until the thread is
    /// inside again.
    ///
    /// # Errors
    ///
    /// [`WaitError::Interrupted`] if the thread is interrupted first; its flag is clear then.
    ///
    /// # Panics
    ///
    /// If `guard` is another monitor's.
    #[track_caller]
    pub fn wait(&self, guard: &mut MonitorGuard<'_, T>) -> Result<(), WaitError> {
        self.wait_as(guard, self.wait_attempt())
            .map_err(|_| WaitError::Interrupted)
    }

    /// [`wait`](Self::wait) for at most `timeout`.
    ///
    /// # Pinning
    ///
    /// As `wait`.
    ///
    /// # Errors
    ///
    /// As `wait`.
    ///
    /// # Panics
    ///
    /// As `wait`.
    #[track_caller]
    pub fn wait_timeout(
        &self,
        guard: &mut MonitorGuard<'_, T>,
        timeout: Duration,
    ) -> Result<WaitTimeoutResult, WaitError> {
        match self.wait_as(
            guard,
            self.wait_attempt().until(attempt::deadline_in(timeout)),
        ) {
            Ok(()) => Ok(WaitTimeoutResult::new(false)),
            Err(GaveUp::Timeout) => Ok(WaitTimeoutResult::new(true)),
            Err(GaveUp::Interrupted) => Err(WaitError::Interrupted),
        }
    }

    #[track_caller]
    fn wait_attempt(&self) -> Attempt {
        Attempt::new(Operation::MonitorWait)
            .about(self.subject())
            .interruptible()
    }

    #[track_caller]
    fn wait_as(&self, guard: &mut MonitorGuard<'_, T>, mut attempt: Attempt) -> Result<(), GaveUp> {
        let (of, this) = (guard.monitor().subject(), self.subject());
        assert!(of == this, "{this:?} is waited for with a guard of {of:?}");
        self.condition.wait(self.raw(), &mut attempt)
    }

    /// Wakes one that waits: the one who has waited longest and is able to run. Those before it whose carrier
    /// cannot run them are woken with it.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn notify_one(&self) {
        self.condition.notify_one();
    }

    /// Wakes all that wait.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn notify_all(&self) {
        self.condition.notify_all();
    }

    /// How many guards of the monitor the calling thread has.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn hold_count(&self) -> u32 {
        self.raw().depth()
    }

    /// The value; having the monitor to oneself needs no entering.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn get_mut(&mut self) -> &mut T {
        self.cell.get_mut()
    }

    #[inline]
    fn subject(&self) -> Subject {
        Subject {
            kind: "Monitor",
            name: self.name,
            id: self.raw().id(),
        }
    }

    #[inline]
    fn raw(&self) -> &RawMonitor {
        self.cell.raw()
    }

    #[inline]
    fn guard<'a>(&'a self, level: Level<'a, RawMonitor>) -> MonitorGuard<'a, T> {
        MonitorGuard::new(self, level)
    }
}

impl<T: Default> Default for Monitor<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Monitor<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Monitor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Monitor");
        if let Some(name) = self.name {
            out.field("name", &name);
        }
        match self.try_enter() {
            Some(guard) => out.field("data", &&*guard),
            None => out.field(
                "data",
                &format_args!("<thread #{} is inside>", self.raw().holder()),
            ),
        };
        out.finish_non_exhaustive()
    }
}
