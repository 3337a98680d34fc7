//! [`RwLock`] in std's shape.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, TryLockError, TryLockResult};

use super::mutex::poisonable;
use crate::event::{Operation, Subject};
use crate::sync::raw::attempt::{Attempt, GaveUp};
use crate::sync::raw::poison::{Poison, Watch};
use crate::sync::raw::protected::{Protected, ReadHeld, WriteHeld};
use crate::sync::raw::shared::Shared;

/// [`std::sync::RwLock`] for virtual threads: waiting for it unmounts, holding it over a wait does not pin.
///
/// Once somebody waits, access is given in order, so a thread must not read again while it reads: a writer
/// that came in between would make it wait for itself (as with std's).
///
/// ```
/// use vt_runtime::sync::RwLock;
///
/// let lock = RwLock::new(5);
/// {
///     let (one, two) = (lock.read().unwrap(), lock.try_read().unwrap());
///     assert_eq!(*one + *two, 10);
/// }
/// *lock.write().unwrap() += 1;
/// assert_eq!(*lock.read().unwrap(), 6);
/// ```
pub struct RwLock<T: ?Sized> {
    poison: Poison,
    inner: Protected<Shared, T>,
}

/// The right to read the value of an [`RwLock`]; given back when dropped.
#[must_use = "the lock is released when its guard is dropped"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    held: ReadHeld<'a, T>,
}

/// The right to change the value of an [`RwLock`]; given back when dropped.
#[must_use = "the lock is released when its guard is dropped"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    /// Dropped before the lock is given back.
    settles: Settles<'a>,
    held: WriteHeld<'a, T>,
}

/// Poisons the lock if the writer panics meanwhile.
struct Settles<'a> {
    poison: &'a Poison,
    watch: Watch,
}

impl<T> RwLock<T> {
    /// A free lock around `value`.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            poison: Poison::new(),
            inner: Protected::new(Shared::new(), value),
        }
    }

    /// The value, without a lock.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// The value all the same, if a writer panicked.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.poison.is_set();
        poisonable(poisoned, self.inner.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks for reading, waiting if somebody writes or waits for it. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned. Holding the lock does not pin.
    ///
    /// # Errors
    ///
    /// The guard all the same, if a writer panicked.
    ///
    /// # Panics
    ///
    /// If the calling thread has it locked for writing: it would wait for itself.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let held = match self.inner.read_at_once() {
            Some(held) => held,
            None => never_ends(self.inner.read(&mut self.attempt())),
        };
        self.reader(held)
    }

    /// Locks for reading if nobody writes.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// [`TryLockError::WouldBlock`] if it is locked for writing, [`TryLockError::Poisoned`] with the guard if
    /// a writer panicked.
    #[inline]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        match self.inner.try_read() {
            Some(held) => Ok(self.reader(held)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Locks for writing, waiting if somebody reads, writes or waits for it. An interrupt does not end the
    /// wait.
    ///
    /// # Pinning
    ///
    /// As [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// The guard all the same, if a writer panicked.
    ///
    /// # Panics
    ///
    /// As [`read`](Self::read).
    #[inline]
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let held = match self.inner.write_at_once() {
            Some(held) => held,
            None => never_ends(self.inner.write(&mut self.attempt())),
        };
        self.writer(held)
    }

    /// Locks for writing if nobody reads or writes.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// [`TryLockError::WouldBlock`] if it is locked, [`TryLockError::Poisoned`] with the guard if a writer
    /// panicked.
    #[inline]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        match self.inner.try_write() {
            Some(held) => Ok(self.writer(held)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Did a writer panic?
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[inline]
    pub fn is_poisoned(&self) -> bool {
        self.poison.is_set()
    }

    /// Forgets that a writer panicked.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn clear_poison(&self) {
        self.poison.clear();
    }

    /// The value; having the lock to oneself needs no locking.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// The value all the same, if a writer panicked.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.poison.is_set();
        poisonable(poisoned, self.inner.get_mut())
    }

    #[cold]
    #[track_caller]
    fn attempt(&self) -> Attempt {
        let subject = Subject {
            kind: "RwLock",
            name: None,
            id: self.inner.raw().id(),
        };
        self.inner.raw().refuse_relock(subject);
        Attempt::new(Operation::Lock).about(subject)
    }

    #[inline]
    fn reader<'a>(&'a self, held: ReadHeld<'a, T>) -> LockResult<RwLockReadGuard<'a, T>> {
        poisonable(self.poison.is_set(), RwLockReadGuard { held })
    }

    #[inline]
    fn writer<'a>(&'a self, held: WriteHeld<'a, T>) -> LockResult<RwLockWriteGuard<'a, T>> {
        let settles = Settles {
            poison: &self.poison,
            watch: self.poison.watch(),
        };
        let guard = RwLockWriteGuard { settles, held };
        poisonable(self.poison.is_set(), guard)
    }
}

fn never_ends<H>(held: Result<H, GaveUp>) -> H {
    held.unwrap_or_else(|gave_up| unreachable!("a wait without an end gave up: {gave_up:?}"))
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.held
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.held
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.held
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Goes on reading; no other writer comes in between.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn downgrade(writer: Self) -> RwLockReadGuard<'a, T> {
        let Self { settles, held } = writer;
        drop(settles);
        RwLockReadGuard {
            held: held.downgrade(),
        }
    }
}

impl Drop for Settles<'_> {
    #[inline]
    fn drop(&mut self) {
        self.poison.settle(self.watch);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> std::panic::UnwindSafe for RwLock<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for RwLock<T> {}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => out.field("data", &&*guard),
            Err(TryLockError::Poisoned(poisoned)) => out.field("data", &&**poisoned.get_ref()),
            Err(TryLockError::WouldBlock) => out.field("data", &format_args!("<locked>")),
        };
        out.field("poisoned", &self.is_poisoned())
            .finish_non_exhaustive()
    }
}
