//! [`ReentrantLock`]: a reentrant lock owned by the virtual thread, held over any wait without pinning.

use std::fmt;
use std::time::Duration;

use super::guard::ReentrantLockGuard;
use crate::event::{Operation, Subject};
use crate::sync::error::{LockDeadlock, LockError};
use crate::sync::raw::attempt::{self, Attempt, GaveUp};
use crate::sync::raw::level::Level;
use crate::sync::raw::protected::ReentrantCell;
use crate::sync::raw::reentrant::Reentrant;

/// A lock that its owner may take again, owned by the virtual thread (or the plain OS thread) that took it.
///
/// This is the lock to use where a [`Monitor`](super::super::Monitor) would be held over a wait: a thread that
/// waits for it, or waits while it holds it, unmounts. Guards give `&T` only, because a thread may have
/// several at once; put a `Cell` or `RefCell` inside for what changes. There is no poisoning.
///
/// A release frees the lock for whoever comes first, so a running thread may win against one that waited.
/// After about 1 ms of losing, a waiter goes before newcomers; with [`fair`](Self::fair) it always does. In both
/// cases a waiter whose carrier cannot run it is passed over until it can.
///
/// ```
/// use std::cell::Cell;
/// use vt_runtime::sync::ReentrantLock;
///
/// let balance = ReentrantLock::named("balance", Cell::new(100));
/// let outer = balance.lock();
/// outer.set(outer.get() - 30);
/// assert_eq!(balance.lock().get(), 70); // the owner enters again
/// ```
pub struct ReentrantLock<T: ?Sized> {
    name: Option<&'static str>,
    pub(super) cell: ReentrantCell<Reentrant, T>,
}

impl<T> ReentrantLock<T> {
    /// A free lock around `value`.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            name: None,
            cell: ReentrantCell::new(Reentrant::new(), value),
        }
    }

    /// A lock that events and dumps call `name`.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn named(name: &'static str, value: T) -> Self {
        Self {
            name: Some(name),
            cell: ReentrantCell::new(Reentrant::new(), value),
        }
    }

    /// With `true`: first come, first served, as far as those who are first can run. Costs a switch of
    /// threads for each contended release.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn fair(mut self, fair: bool) -> Self {
        self.cell.raw_mut().set_fair(fair);
        self
    }

    /// The value, without a lock.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn into_inner(self) -> T {
        self.cell.into_inner()
    }
}

impl<T: ?Sized> ReentrantLock<T> {
    /// Takes the lock, waiting for it if another thread has it. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned. Holding the lock does not pin.
    ///
    /// # Panics
    ///
    /// If the wait would never end: the deadlock policy is `Error` and the thread is part of a deadlock.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> ReentrantLockGuard<'_, T> {
        match self.raw().enter_at_once() {
            Some(level) => self.guard(level),
            None => self.lock_waiting(),
        }
    }

    #[cold]
    #[track_caller]
    fn lock_waiting(&self) -> ReentrantLockGuard<'_, T> {
        match self.enter(self.attempt()) {
            Ok(guard) => guard,
            Err(gave_up) => unreachable!("a wait without an end gave up: {gave_up:?}"),
        }
    }

    /// [`lock`](Self::lock) that tells when the wait could never end.
    ///
    /// # Pinning
    ///
    /// As `lock`.
    ///
    /// # Errors
    ///
    /// [`LockError::Interrupted`] if the thread is interrupted first (its flag is clear then);
    /// [`LockError::Deadlock`] under the deadlock policy `Error`.
    #[track_caller]
    pub fn lock_checked(&self) -> Result<ReentrantLockGuard<'_, T>, LockError> {
        if let Some(level) = self.raw().enter_at_once() {
            return Ok(self.guard(level));
        }
        let mut attempt = self.attempt().interruptible().checked();
        match self.raw().enter(&mut attempt) {
            Ok(level) => Ok(self.guard(level)),
            Err(_) => Err(match attempt.deadlock() {
                Some(cycle) => LockError::Deadlock(LockDeadlock::new(cycle.to_owned())),
                None => LockError::Interrupted,
            }),
        }
    }

    /// [`lock`](Self::lock) that an interrupt ends.
    ///
    /// # Pinning
    ///
    /// As `lock`.
    ///
    /// # Errors
    ///
    /// [`LockError::Interrupted`] if the thread is interrupted first; its flag is clear then.
    #[inline]
    #[track_caller]
    pub fn lock_interruptibly(&self) -> Result<ReentrantLockGuard<'_, T>, LockError> {
        match self.raw().enter_at_once() {
            Some(level) => Ok(self.guard(level)),
            None => self
                .enter(self.attempt().interruptible())
                .map_err(|_| LockError::Interrupted),
        }
    }

    /// Takes the lock if it is free or the caller's own, also past those who wait for a fair lock.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[inline]
    pub fn try_lock(&self) -> Option<ReentrantLockGuard<'_, T>> {
        self.raw().try_enter().map(|level| self.guard(level))
    }

    /// Takes the lock if that is possible within `timeout`. An interrupt ends the wait too, and the flag
    /// stays set.
    ///
    /// # Pinning
    ///
    /// As [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock_for(&self, timeout: Duration) -> Option<ReentrantLockGuard<'_, T>> {
        if let Some(level) = self.raw().enter_at_once() {
            return Some(self.guard(level));
        }
        let attempt = self
            .attempt()
            .until(attempt::deadline_in(timeout))
            .interruptible();
        match self.enter(attempt) {
            Ok(guard) => Some(guard),
            Err(GaveUp::Timeout) => None,
            Err(GaveUp::Interrupted) => {
                attempt::keep_interrupt();
                None
            }
        }
    }

    /// Is the lock held by the calling thread?
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn is_held(&self) -> bool {
        self.raw().is_mine()
    }

    /// How many guards of the lock the calling thread has.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn hold_count(&self) -> u32 {
        self.raw().depth()
    }

    /// Is the lock held by any thread at this moment?
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn is_locked(&self) -> bool {
        self.raw().owner() != 0
    }

    /// The value; having the lock to oneself needs no locking.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn get_mut(&mut self) -> &mut T {
        self.cell.get_mut()
    }

    pub(super) fn subject(&self) -> Subject {
        Subject {
            kind: "ReentrantLock",
            name: self.name,
            id: self.raw().id(),
        }
    }

    #[track_caller]
    fn attempt(&self) -> Attempt {
        Attempt::new(Operation::Lock).about(self.subject())
    }

    fn enter(&self, mut attempt: Attempt) -> Result<ReentrantLockGuard<'_, T>, GaveUp> {
        self.raw()
            .enter(&mut attempt)
            .map(|level| self.guard(level))
    }

    fn raw(&self) -> &Reentrant {
        self.cell.raw()
    }

    fn guard<'a>(&'a self, level: Level<'a, Reentrant>) -> ReentrantLockGuard<'a, T> {
        ReentrantLockGuard { lock: self, level }
    }
}

impl<T: Default> Default for ReentrantLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for ReentrantLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ReentrantLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ReentrantLock");
        if let Some(name) = self.name {
            out.field("name", &name);
        }
        match self.try_lock() {
            Some(guard) => out.field("data", &&*guard),
            None => out.field(
                "data",
                &format_args!("<locked by thread #{}>", self.raw().owner()),
            ),
        };
        out.finish_non_exhaustive()
    }
}
