//! [`Mutex`] in std's shape.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::event::{Operation, Subject};
use crate::sync::raw::attempt::{Attempt, GaveUp};
use crate::sync::raw::condition::RawCondition;
use crate::sync::raw::exclusive::Exclusive;
use crate::sync::raw::poison::{Poison, Watch};
use crate::sync::raw::protected::{Held, Protected};

/// [`std::sync::Mutex`] for virtual threads: waiting for it unmounts, holding it over a wait does not pin.
///
/// Its owner is the virtual thread (or the plain OS thread) that locked it. Poisoning is std's; a thread that
/// is cancelled while it holds the lock does not poison it.
///
/// ```
/// use std::sync::Arc;
/// use vt_runtime::sync::Mutex;
/// use vt_runtime::thread;
///
/// let total = Arc::new(Mutex::new(0));
/// let threads: Vec<_> = (0..10)
///     .map(|n| {
///         let total = Arc::clone(&total);
///         thread::spawn(move || *total.lock().unwrap() += n)
///     })
///     .collect();
/// for thread in threads {
///     thread.join().unwrap();
/// }
/// assert_eq!(*total.lock().unwrap(), 45);
/// ```
pub struct Mutex<T: ?Sized> {
    poison: Poison,
    inner: Protected<Exclusive, T>,
}

/// The right to use the value of a [`Mutex`]; unlocks it when dropped.
#[must_use = "the mutex is unlocked when its guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    watch: Watch,
    held: Held<'a, T>,
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
            poison: Poison::new(),
            inner: Protected::new(Exclusive::new(), value),
        }
    }

    /// The value, without a mutex.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// The value all the same, if a thread panicked while it held the mutex.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.poison.is_set();
        poisonable(poisoned, self.inner.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks, waiting if another thread has it locked. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned. Holding the lock does not pin.
    ///
    /// # Errors
    ///
    /// The guard all the same, if a thread panicked while it held the mutex.
    ///
    /// # Panics
    ///
    /// If the calling thread has it locked already: it would wait for itself.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        // The guard is made in one place: one that came from either of two through memory would wait for its own stores.
        let held = match self.inner.hold_at_once() {
            Some(held) => held,
            None => self.hold_waiting(),
        };
        self.guard(held)
    }

    #[cold]
    #[track_caller]
    fn hold_waiting(&self) -> Held<'_, T> {
        let subject = self.subject();
        self.inner.raw().refuse_relock(subject);
        match self
            .inner
            .hold(&mut Attempt::new(Operation::Lock).about(subject))
        {
            Ok(held) => held,
            Err(gave_up) => unreachable!("a wait without an end gave up: {gave_up:?}"),
        }
    }

    /// Locks if nobody has it locked.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// [`TryLockError::WouldBlock`] if it is locked, [`TryLockError::Poisoned`] with the guard if a thread
    /// panicked while it held the mutex.
    #[inline]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match self.inner.try_hold() {
            Some(held) => Ok(self.guard(held)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Did a thread panic while it held the mutex?
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[inline]
    pub fn is_poisoned(&self) -> bool {
        self.poison.is_set()
    }

    /// Forgets that a thread panicked while it held the mutex.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn clear_poison(&self) {
        self.poison.clear();
    }

    /// The value; having the mutex to oneself needs no locking.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// The value all the same, if a thread panicked while it held the mutex.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.poison.is_set();
        poisonable(poisoned, self.inner.get_mut())
    }

    fn subject(&self) -> Subject {
        Subject {
            kind: "Mutex",
            name: None,
            id: self.inner.raw().id(),
        }
    }

    #[inline]
    fn guard<'a>(&'a self, held: Held<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let guard = MutexGuard {
            mutex: self,
            watch: self.poison.watch(),
            held,
        };
        poisonable(self.poison.is_set(), guard)
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// For `Condvar`: waits for a notice without the lock.
    #[track_caller]
    pub(super) fn wait(
        mut self,
        condition: &RawCondition,
        mut attempt: Attempt,
    ) -> (LockResult<Self>, Result<(), GaveUp>) {
        attempt.set_subject(self.mutex.subject());
        let ended = self.held.wait(condition, &mut attempt);
        let poisoned = self.mutex.poison.is_set();
        (poisonable(poisoned, self), ended)
    }
}

/// `value`, in the wrapping that says whether its lock is poisoned.
pub(super) fn poisonable<V>(poisoned: bool, value: V) -> LockResult<V> {
    if poisoned {
        Err(PoisonError::new(value))
    } else {
        Ok(value)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.held
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.held
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.poison.settle(self.watch);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

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

impl<T: ?Sized> std::panic::UnwindSafe for Mutex<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for Mutex<T> {}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => out.field("data", &&*guard),
            Err(TryLockError::Poisoned(poisoned)) => out.field("data", &&**poisoned.get_ref()),
            Err(TryLockError::WouldBlock) => out.field("data", &format_args!("<locked>")),
        };
        out.field("poisoned", &self.is_poisoned())
            .finish_non_exhaustive()
    }
}
