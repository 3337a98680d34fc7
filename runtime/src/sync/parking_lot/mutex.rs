//! `Mutex` in parking_lot's shape.

use std::fmt;
use std::time::{Duration, Instant};

use super::guard_like_its_value;
use crate::event::{Operation, Subject};
use crate::sync::raw::attempt::{self, Attempt};
use crate::sync::raw::condition::RawCondition;
use crate::sync::raw::exclusive::Exclusive;
use crate::sync::raw::protected::{Held, Protected};

/// `parking_lot::Mutex` for virtual threads.
///
/// ```
/// use vt_runtime::sync::parking_lot::{Mutex, MutexGuard};
///
/// static PAIR: Mutex<(u8, u8)> = Mutex::new((1, 2));
/// let second = MutexGuard::map(PAIR.lock(), |pair| &mut pair.1);
/// assert_eq!(*second, 2);
/// ```
pub struct Mutex<T: ?Sized> {
    inner: Protected<Exclusive, T>,
}

/// The right to use the value of a [`Mutex`]; unlocks it when dropped.
#[must_use = "the mutex is unlocked when its guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    held: Held<'a, T>,
    subject: Subject,
}

/// The right to use a part of the value of a [`Mutex`]; unlocks it when dropped.
#[must_use = "the mutex is unlocked when its guard is dropped"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    held: Held<'a, T>,
}

/// An unlocked mutex around `value`, as [`Mutex::new`].
///
/// # Pinning
///
/// Never waits.
#[must_use]
pub const fn const_mutex<T>(value: T) -> Mutex<T> {
    Mutex::new(value)
}

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            inner: Protected::new(Exclusive::new(), value),
        }
    }

    /// The value, without a mutex.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks, waiting if another thread has it locked. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned. Holding the lock does not pin.
    ///
    /// # Panics
    ///
    /// If the calling thread has it locked already: it would wait for itself.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let held = match self.inner.hold_at_once() {
            Some(held) => held,
            None => self.hold_waiting(),
        };
        self.guard(held)
    }

    #[cold]
    #[track_caller]
    fn hold_waiting(&self) -> Held<'_, T> {
        self.inner.raw().refuse_relock(self.subject());
        let held = self
            .inner
            .hold(&mut Attempt::new(Operation::Lock).about(self.subject()));
        match held {
            Ok(held) => held,
            Err(gave_up) => unreachable!("a wait without an end gave up: {gave_up:?}"),
        }
    }

    /// Locks if nobody has it locked.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.inner.try_hold().map(|held| self.guard(held))
    }

    /// Locks if that is possible within `timeout`.
    ///
    /// # Pinning
    ///
    /// As [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock_for(&self, timeout: Duration) -> Option<MutexGuard<'_, T>> {
        self.lock_until(attempt::deadline_in(timeout))
    }

    /// Locks if that is possible before `deadline`.
    ///
    /// # Pinning
    ///
    /// As [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock_until(&self, deadline: Instant) -> Option<MutexGuard<'_, T>> {
        self.lock_until(Some(deadline))
    }

    #[track_caller]
    fn lock_until(&self, deadline: Option<Instant>) -> Option<MutexGuard<'_, T>> {
        let mut attempt = Attempt::new(Operation::Lock)
            .about(self.subject())
            .until(deadline);
        let held = self
            .inner
            .hold_at_once()
            .or_else(|| self.inner.hold(&mut attempt).ok());
        held.map(|held| self.guard(held))
    }

    /// Is it locked at this moment?
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn is_locked(&self) -> bool {
        self.inner.raw().owner() != 0
    }

    /// The value; having the mutex to oneself needs no locking.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }

    fn subject(&self) -> Subject {
        Subject {
            kind: "Mutex",
            name: None,
            id: self.inner.raw().id(),
        }
    }

    #[inline]
    fn guard<'a>(&'a self, held: Held<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard {
            held,
            subject: self.subject(),
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Narrows the guard to a part of the value.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    pub fn map<U: ?Sized, F>(s: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        MappedMutexGuard {
            held: s.held.map(f),
        }
    }

    /// Narrows the guard to a part of the value, if there is one.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    ///
    /// # Errors
    ///
    /// The guard, if `f` finds no such part.
    pub fn try_map<U: ?Sized, F>(s: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        let Self { held, subject } = s;
        match held.try_map(f) {
            Ok(held) => Ok(MappedMutexGuard { held }),
            Err(held) => Err(Self { held, subject }),
        }
    }

    /// Unlocks the mutex for the one who has waited longest and is able to run.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn unlock_fair(s: Self) {
        s.held.release_fairly();
    }

    /// Unlocks the mutex while `f` runs.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits for the lock, unless the thread is pinned.
    #[track_caller]
    pub fn unlocked<F: FnOnce() -> U, U>(s: &mut Self, f: F) -> U {
        s.held.without(false, s.subject, f)
    }

    /// Lets those who wait go first.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits for the lock, unless the thread is pinned.
    #[track_caller]
    pub fn bump(s: &mut Self) {
        s.held.bump(s.subject);
    }

    /// For `Condvar`: waits for a notice without the lock. True if it came.
    #[track_caller]
    pub(super) fn wait(&mut self, condition: &RawCondition, deadline: Option<Instant>) -> bool {
        let mut attempt = Attempt::new(Operation::Condition)
            .about(self.subject)
            .until(deadline);
        self.held.wait(condition, &mut attempt).is_ok()
    }
}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// Narrows the guard further.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    pub fn map<U: ?Sized, F>(s: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        MappedMutexGuard {
            held: s.held.map(f),
        }
    }

    /// Unlocks the mutex for the one who has waited longest and is able to run.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn unlock_fair(s: Self) {
        s.held.release_fairly();
    }
}

guard_like_its_value!(mut MutexGuard);
guard_like_its_value!(mut MappedMutexGuard);

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Mutex");
        match self.try_lock() {
            Some(guard) => out.field("data", &&*guard),
            None => out.field("data", &format_args!("<locked>")),
        };
        out.finish()
    }
}
