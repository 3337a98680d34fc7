//! `RwLock` in parking_lot's shape.

use std::fmt;
use std::time::{Duration, Instant};

use super::guard_like_its_value;
use crate::event::{Operation, Subject};
use crate::sync::raw::attempt::{self, Attempt, GaveUp};
use crate::sync::raw::protected::{Protected, ReadHeld, WriteHeld};
use crate::sync::raw::shared::{Access, Shared};

/// `parking_lot::RwLock` for virtual threads. Once somebody waits, access is given in order.
///
/// ```
/// use vt_runtime::sync::parking_lot::{RwLock, RwLockWriteGuard};
///
/// let lock = RwLock::new(5);
/// let mut writer = lock.write();
/// *writer += 1;
/// let reader = RwLockWriteGuard::downgrade(writer);
/// assert_eq!(*reader + *lock.read(), 12);
/// ```
pub struct RwLock<T: ?Sized> {
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
    held: WriteHeld<'a, T>,
}

/// The right to read a part of the value of an [`RwLock`]; given back when dropped.
#[must_use = "the lock is released when its guard is dropped"]
pub struct MappedRwLockReadGuard<'a, T: ?Sized> {
    held: ReadHeld<'a, T>,
}

/// The right to change a part of the value of an [`RwLock`]; given back when dropped.
#[must_use = "the lock is released when its guard is dropped"]
pub struct MappedRwLockWriteGuard<'a, T: ?Sized> {
    held: WriteHeld<'a, T>,
}

/// A free lock around `value`, as [`RwLock::new`].
///
/// # Pinning
///
/// Never waits.
#[must_use]
pub const fn const_rwlock<T>(value: T) -> RwLock<T> {
    RwLock::new(value)
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
            inner: Protected::new(Shared::new(), value),
        }
    }

    /// The value, without a lock.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Locks for reading, waiting if somebody writes or waits for it. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned. Holding the lock does not pin.
    ///
    /// # Panics
    ///
    /// If the calling thread has it locked for writing: it would wait for itself.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        let held = match self.inner.read_at_once() {
            Some(held) => held,
            None => never_ends(self.inner.read(&mut self.endless())),
        };
        RwLockReadGuard { held }
    }

    /// Locks for writing, waiting if somebody reads, writes or waits for it. An interrupt does not end the
    /// wait.
    ///
    /// # Pinning
    ///
    /// As [`read`](Self::read).
    ///
    /// # Panics
    ///
    /// As [`read`](Self::read).
    #[inline]
    #[track_caller]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        let held = match self.inner.write_at_once() {
            Some(held) => held,
            None => never_ends(self.inner.write(&mut self.endless())),
        };
        RwLockWriteGuard { held }
    }

    /// Locks for reading if nobody writes.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[inline]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        self.inner.try_read().map(|held| RwLockReadGuard { held })
    }

    /// Locks for writing if nobody reads or writes.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[inline]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        self.inner.try_write().map(|held| RwLockWriteGuard { held })
    }

    /// Locks for reading if that is possible within `timeout`.
    ///
    /// # Pinning
    ///
    /// As [`read`](Self::read).
    #[track_caller]
    pub fn try_read_for(&self, timeout: Duration) -> Option<RwLockReadGuard<'_, T>> {
        let mut attempt = self.attempt().until(attempt::deadline_in(timeout));
        let held = self
            .inner
            .read_at_once()
            .or_else(|| self.inner.read(&mut attempt).ok());
        held.map(|held| RwLockReadGuard { held })
    }

    /// Locks for reading if that is possible before `deadline`.
    ///
    /// # Pinning
    ///
    /// As [`read`](Self::read).
    #[track_caller]
    pub fn try_read_until(&self, deadline: Instant) -> Option<RwLockReadGuard<'_, T>> {
        self.try_read_for(deadline.saturating_duration_since(Instant::now()))
    }

    /// Locks for writing if that is possible within `timeout`.
    ///
    /// # Pinning
    ///
    /// As [`read`](Self::read).
    #[track_caller]
    pub fn try_write_for(&self, timeout: Duration) -> Option<RwLockWriteGuard<'_, T>> {
        let mut attempt = self.attempt().until(attempt::deadline_in(timeout));
        let held = self
            .inner
            .write_at_once()
            .or_else(|| self.inner.write(&mut attempt).ok());
        held.map(|held| RwLockWriteGuard { held })
    }

    /// Locks for writing if that is possible before `deadline`.
    ///
    /// # Pinning
    ///
    /// As [`read`](Self::read).
    #[track_caller]
    pub fn try_write_until(&self, deadline: Instant) -> Option<RwLockWriteGuard<'_, T>> {
        self.try_write_for(deadline.saturating_duration_since(Instant::now()))
    }

    /// Is it locked in any way at this moment?
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn is_locked(&self) -> bool {
        self.inner.raw().is_held(Access::Read)
    }

    /// Is it locked for writing at this moment?
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn is_locked_exclusive(&self) -> bool {
        self.inner.raw().is_held(Access::Write)
    }

    /// The value; having the lock to oneself needs no locking.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }

    #[track_caller]
    fn attempt(&self) -> Attempt {
        let subject = Subject {
            kind: "RwLock",
            name: None,
            id: self.inner.raw().id(),
        };
        Attempt::new(Operation::Lock).about(subject)
    }

    #[cold]
    #[track_caller]
    fn endless(&self) -> Attempt {
        let subject = Subject {
            kind: "RwLock",
            name: None,
            id: self.inner.raw().id(),
        };
        self.inner.raw().refuse_relock(subject);
        self.attempt()
    }
}

fn never_ends<H>(held: Result<H, GaveUp>) -> H {
    held.unwrap_or_else(|gave_up| unreachable!("a wait without an end gave up: {gave_up:?}"))
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// Narrows the guard to a part of the value.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    pub fn map<U: ?Sized, F>(s: Self, f: F) -> MappedRwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        MappedRwLockReadGuard {
            held: s.held.map(f),
        }
    }

    /// Narrows the guard to a part of the value, if there is such a part.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    ///
    /// # Errors
    ///
    /// The guard, if `f` finds no such part.
    pub fn try_map<U: ?Sized, F>(s: Self, f: F) -> Result<MappedRwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match s.held.try_map(f) {
            Ok(held) => Ok(MappedRwLockReadGuard { held }),
            Err(held) => Err(Self { held }),
        }
    }

    /// Lets those who wait go first.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits for the lock, unless the thread is pinned.
    #[track_caller]
    pub fn bump(s: &mut Self) {
        s.held.bump();
    }

    /// Unlocks it; that is always fair here.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn unlock_fair(s: Self) {
        drop(s);
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Narrows the guard to a part of the value.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    pub fn map<U: ?Sized, F>(s: Self, f: F) -> MappedRwLockWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        MappedRwLockWriteGuard {
            held: s.held.map(f),
        }
    }

    /// Narrows the guard to a part of the value, if there is such a part.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    ///
    /// # Errors
    ///
    /// The guard, if `f` finds no such part.
    pub fn try_map<U: ?Sized, F>(s: Self, f: F) -> Result<MappedRwLockWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match s.held.try_map(f) {
            Ok(held) => Ok(MappedRwLockWriteGuard { held }),
            Err(held) => Err(Self { held }),
        }
    }

    /// Lets those who wait go first.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits for the lock, unless the thread is pinned.
    #[track_caller]
    pub fn bump(s: &mut Self) {
        s.held.bump();
    }

    /// Goes on reading; no other writer comes in between.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn downgrade(s: Self) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard {
            held: s.held.downgrade(),
        }
    }

    /// Unlocks it; that is always fair here.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn unlock_fair(s: Self) {
        drop(s);
    }
}

impl<'a, T: ?Sized> MappedRwLockReadGuard<'a, T> {
    /// Narrows the guard further.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    pub fn map<U: ?Sized, F>(s: Self, f: F) -> MappedRwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
    {
        MappedRwLockReadGuard {
            held: s.held.map(f),
        }
    }

    /// Narrows the guard further, if there is such a part.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    ///
    /// # Errors
    ///
    /// The guard, if `f` finds no such part.
    pub fn try_map<U: ?Sized, F>(s: Self, f: F) -> Result<MappedRwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match s.held.try_map(f) {
            Ok(held) => Ok(MappedRwLockReadGuard { held }),
            Err(held) => Err(Self { held }),
        }
    }
}

impl<'a, T: ?Sized> MappedRwLockWriteGuard<'a, T> {
    /// Narrows the guard further.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    pub fn map<U: ?Sized, F>(s: Self, f: F) -> MappedRwLockWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        MappedRwLockWriteGuard {
            held: s.held.map(f),
        }
    }

    /// Narrows the guard further, if there is such a part.
    ///
    /// # Pinning
    ///
    /// Never waits itself.
    ///
    /// # Errors
    ///
    /// The guard, if `f` finds no such part.
    pub fn try_map<U: ?Sized, F>(s: Self, f: F) -> Result<MappedRwLockWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match s.held.try_map(f) {
            Ok(held) => Ok(MappedRwLockWriteGuard { held }),
            Err(held) => Err(Self { held }),
        }
    }
}

guard_like_its_value!(RwLockReadGuard);
guard_like_its_value!(MappedRwLockReadGuard);
guard_like_its_value!(mut RwLockWriteGuard);
guard_like_its_value!(mut MappedRwLockWriteGuard);

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

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RwLock");
        match self.try_read() {
            Some(guard) => out.field("data", &&*guard),
            None => out.field("data", &format_args!("<locked>")),
        };
        out.finish()
    }
}
