//! The cells behind the locks: a value that only those who hold its lock can reach.
//!
//! **Invariant (exclusive):** a [`Held`] exists only between the acquisition and the release of its
//! [`Exclusive`], which never has two owners; so its access to the value is the only one.
//!
//! **Invariant (shared):** a [`ReadHeld`] exists only while its [`Shared`] counts a reader, a [`WriteHeld`] only
//! while it has its writer; `Shared` never has both, nor two writers.
//!
//! **Invariant (reentrant):** the value of a [`ReentrantCell`] is reached only through a [`Level`] of its own
//! lock, and only as `&T`, so the levels of one thread may all be used at once.
//!
//! The types that prove it cannot leave their thread, because the thread that acquired must release.
#![expect(
    unsafe_code,
    reason = "hands out references to a value that a lock protects"
)]

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::event::{Operation, Subject};
use crate::sync::raw::attempt::{Attempt, GaveUp};
use crate::sync::raw::condition::{GiveBack, RawCondition};
use crate::sync::raw::exclusive::Exclusive;
use crate::sync::raw::level::{Level, Reenter};
use crate::sync::raw::shared::{Access, Shared};

/// A raw lock and the value it protects.
pub(crate) struct Protected<R, T: ?Sized> {
    raw: R,
    value: UnsafeCell<T>,
}

// SAFETY: (exclusive) at most one thread reaches the value at a time, so it only ever moves between threads.
unsafe impl<T: ?Sized + Send> Sync for Protected<Exclusive, T> {}
// SAFETY: (shared) several threads read the value at once, which `T: Sync` allows; a writer has it alone,
// which is a move between threads.
unsafe impl<T: ?Sized + Send + Sync> Sync for Protected<Shared, T> {}

impl<R, T> Protected<R, T> {
    pub(crate) const fn new(raw: R, value: T) -> Self {
        Self {
            raw,
            value: UnsafeCell::new(value),
        }
    }

    pub(crate) fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<R, T: ?Sized> Protected<R, T> {
    pub(crate) fn raw(&self) -> &R {
        &self.raw
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// The value of a held [`Exclusive`], or a part of it.
pub(crate) struct Held<'a, T: ?Sized> {
    lock: &'a Exclusive,
    value: *mut T,
    _borrows: PhantomData<&'a mut T>,
}

// SAFETY: (exclusive) sharing a `Held` shares `&T` only.
unsafe impl<T: ?Sized + Sync> Sync for Held<'_, T> {}

impl<T: ?Sized> Protected<Exclusive, T> {
    #[inline]
    fn held(&self) -> Held<'_, T> {
        Held {
            lock: &self.raw,
            value: self.value.get(),
            _borrows: PhantomData,
        }
    }

    /// Takes the lock if nobody has it or waits for it.
    #[inline]
    pub(crate) fn hold_at_once(&self) -> Option<Held<'_, T>> {
        self.raw.acquire_at_once().then(|| self.held())
    }

    /// Takes the lock if it is free.
    #[inline]
    pub(crate) fn try_hold(&self) -> Option<Held<'_, T>> {
        self.raw.try_acquire().then(|| self.held())
    }

    /// Takes the lock, waiting as `attempt` says.
    pub(crate) fn hold(&self, attempt: &mut Attempt) -> Result<Held<'_, T>, GaveUp> {
        self.raw.acquire(attempt)?;
        Ok(self.held())
    }
}

impl<'a, T: ?Sized> Held<'a, T> {
    /// Waits for a notice of `condition` without the lock.
    #[track_caller]
    pub(crate) fn wait(
        &mut self,
        condition: &RawCondition,
        attempt: &mut Attempt,
    ) -> Result<(), GaveUp> {
        // The borrow of `self` keeps everybody from the value until the lock is held again.
        condition.wait(self.lock, attempt)
    }

    /// Narrows it to a part of the value.
    pub(crate) fn map<U: ?Sized>(self, part: impl FnOnce(&mut T) -> &mut U) -> Held<'a, U> {
        // SAFETY: (exclusive) `self` gives the only access to the value.
        let value: *mut U = part(unsafe { &mut *self.value });
        let lock = self.lock;
        std::mem::forget(self);
        Held {
            lock,
            value,
            _borrows: PhantomData,
        }
    }

    /// [`map`](Self::map), or `self` again if there is no such part.
    pub(crate) fn try_map<U: ?Sized>(
        self,
        part: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<Held<'a, U>, Self> {
        // SAFETY: (exclusive) `self` gives the only access to the value.
        let Some(value) = part(unsafe { &mut *self.value }) else {
            return Err(self);
        };
        let value: *mut U = value;
        let lock = self.lock;
        std::mem::forget(self);
        Ok(Held {
            lock,
            value,
            _borrows: PhantomData,
        })
    }

    /// Gives the lock back, to the one who has waited longest.
    pub(crate) fn release_fairly(self) {
        let lock = self.lock;
        std::mem::forget(self);
        lock.release_fairly();
    }

    /// Lets those who wait go first.
    #[track_caller]
    pub(crate) fn bump(&mut self, subject: Subject) {
        if self.lock.has_waiters() {
            self.without(true, subject, || {});
        }
    }

    /// Runs `f` without the lock.
    #[track_caller]
    pub(crate) fn without<R>(
        &mut self,
        fairly: bool,
        subject: Subject,
        f: impl FnOnce() -> R,
    ) -> R {
        // Takes the lock back also when `f` panics: the guard is still alive above.
        let _back = TakeBack {
            lock: self.lock,
            attempt: Some(Attempt::new(Operation::Lock).about(subject)),
        };
        if fairly {
            self.lock.release_fairly();
        } else {
            self.lock.release();
        }
        f()
    }
}

struct TakeBack<'a> {
    lock: &'a Exclusive,
    attempt: Option<Attempt>,
}

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        if let Some(mut attempt) = self.attempt.take() {
            attempt.persist();
            self.lock.take_back(&mut (), &mut attempt);
        }
    }
}

impl<T: ?Sized> Deref for Held<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: (exclusive) `self` gives the only access to the value.
        unsafe { &*self.value }
    }
}

impl<T: ?Sized> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: (exclusive) `self` gives the only access to the value.
        unsafe { &mut *self.value }
    }
}

impl<T: ?Sized> Drop for Held<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.release();
    }
}

/// The value of a [`Shared`] that is held for reading, or a part of it.
pub(crate) struct ReadHeld<'a, T: ?Sized> {
    lock: &'a Shared,
    value: *const T,
    _borrows: PhantomData<&'a T>,
}

/// The value of a [`Shared`] that is held for writing, or a part of it.
pub(crate) struct WriteHeld<'a, T: ?Sized> {
    lock: &'a Shared,
    value: *mut T,
    _borrows: PhantomData<&'a mut T>,
}

// SAFETY: (shared) sharing a `ReadHeld` shares `&T` only.
unsafe impl<T: ?Sized + Sync> Sync for ReadHeld<'_, T> {}
// SAFETY: (shared) sharing a `WriteHeld` shares `&T` only.
unsafe impl<T: ?Sized + Sync> Sync for WriteHeld<'_, T> {}

impl<T: ?Sized> Protected<Shared, T> {
    #[inline]
    fn read_held(&self) -> ReadHeld<'_, T> {
        ReadHeld {
            lock: &self.raw,
            value: self.value.get(),
            _borrows: PhantomData,
        }
    }

    #[inline]
    fn write_held(&self) -> WriteHeld<'_, T> {
        WriteHeld {
            lock: &self.raw,
            value: self.value.get(),
            _borrows: PhantomData,
        }
    }

    /// Reads if nobody writes or waits.
    #[inline]
    pub(crate) fn read_at_once(&self) -> Option<ReadHeld<'_, T>> {
        self.raw
            .acquire_at_once(Access::Read)
            .then(|| self.read_held())
    }

    /// Reads if nobody writes.
    #[inline]
    pub(crate) fn try_read(&self) -> Option<ReadHeld<'_, T>> {
        self.raw.try_acquire(Access::Read).then(|| self.read_held())
    }

    /// Reads, waiting as `attempt` says.
    pub(crate) fn read(&self, attempt: &mut Attempt) -> Result<ReadHeld<'_, T>, GaveUp> {
        self.raw.acquire(Access::Read, attempt)?;
        Ok(self.read_held())
    }

    /// Writes if nobody reads, writes or waits.
    #[inline]
    pub(crate) fn write_at_once(&self) -> Option<WriteHeld<'_, T>> {
        self.raw
            .acquire_at_once(Access::Write)
            .then(|| self.write_held())
    }

    /// Writes if nobody reads or writes.
    #[inline]
    pub(crate) fn try_write(&self) -> Option<WriteHeld<'_, T>> {
        self.raw
            .try_acquire(Access::Write)
            .then(|| self.write_held())
    }

    /// Writes, waiting as `attempt` says.
    pub(crate) fn write(&self, attempt: &mut Attempt) -> Result<WriteHeld<'_, T>, GaveUp> {
        self.raw.acquire(Access::Write, attempt)?;
        Ok(self.write_held())
    }
}

impl<'a, T: ?Sized> ReadHeld<'a, T> {
    /// Narrows it to a part of the value.
    pub(crate) fn map<U: ?Sized>(self, part: impl FnOnce(&T) -> &U) -> ReadHeld<'a, U> {
        // SAFETY: (shared) nobody writes while `self` lives.
        let value: *const U = part(unsafe { &*self.value });
        let lock = self.lock;
        std::mem::forget(self);
        ReadHeld {
            lock,
            value,
            _borrows: PhantomData,
        }
    }

    /// [`map`](Self::map), or `self` again if there is no such part.
    pub(crate) fn try_map<U: ?Sized>(
        self,
        part: impl FnOnce(&T) -> Option<&U>,
    ) -> Result<ReadHeld<'a, U>, Self> {
        // SAFETY: (shared) nobody writes while `self` lives.
        let Some(value) = part(unsafe { &*self.value }) else {
            return Err(self);
        };
        let value: *const U = value;
        let lock = self.lock;
        std::mem::forget(self);
        Ok(ReadHeld {
            lock,
            value,
            _borrows: PhantomData,
        })
    }

    /// Lets those who wait go first. Nobody has a reference to the value meanwhile: `self` is borrowed for it.
    #[track_caller]
    pub(crate) fn bump(&mut self) {
        self.lock.bump(Access::Read);
    }
}

impl<'a, T: ?Sized> WriteHeld<'a, T> {
    /// Narrows it to a part of the value.
    pub(crate) fn map<U: ?Sized>(self, part: impl FnOnce(&mut T) -> &mut U) -> WriteHeld<'a, U> {
        // SAFETY: (shared) `self` gives the only access to the value.
        let value: *mut U = part(unsafe { &mut *self.value });
        let lock = self.lock;
        std::mem::forget(self);
        WriteHeld {
            lock,
            value,
            _borrows: PhantomData,
        }
    }

    /// [`map`](Self::map), or `self` again if there is no such part.
    pub(crate) fn try_map<U: ?Sized>(
        self,
        part: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<WriteHeld<'a, U>, Self> {
        // SAFETY: (shared) `self` gives the only access to the value.
        let Some(value) = part(unsafe { &mut *self.value }) else {
            return Err(self);
        };
        let value: *mut U = value;
        let lock = self.lock;
        std::mem::forget(self);
        Ok(WriteHeld {
            lock,
            value,
            _borrows: PhantomData,
        })
    }

    /// Lets those who wait go first. Nobody has a reference to the value meanwhile: `self` is borrowed for it.
    #[track_caller]
    pub(crate) fn bump(&mut self) {
        self.lock.bump(Access::Write);
    }

    /// Goes on reading; no other writer comes in between.
    pub(crate) fn downgrade(self) -> ReadHeld<'a, T> {
        let (lock, value) = (self.lock, self.value);
        std::mem::forget(self);
        lock.downgrade();
        ReadHeld {
            lock,
            value,
            _borrows: PhantomData,
        }
    }
}

impl<T: ?Sized> Deref for ReadHeld<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: (shared) nobody writes while `self` lives.
        unsafe { &*self.value }
    }
}

impl<T: ?Sized> Drop for ReadHeld<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.release(Access::Read);
    }
}

impl<T: ?Sized> Deref for WriteHeld<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: (shared) `self` gives the only access to the value.
        unsafe { &*self.value }
    }
}

impl<T: ?Sized> DerefMut for WriteHeld<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: (shared) `self` gives the only access to the value.
        unsafe { &mut *self.value }
    }
}

impl<T: ?Sized> Drop for WriteHeld<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.release(Access::Write);
    }
}

/// A reentrant raw lock and the value it protects.
pub(crate) struct ReentrantCell<R, T: ?Sized> {
    raw: R,
    value: T,
}

// SAFETY: (reentrant) the value is reached by one thread at a time, which `T: Send` allows.
unsafe impl<R: Sync, T: ?Sized + Send> Sync for ReentrantCell<R, T> {}

impl<R, T> ReentrantCell<R, T> {
    pub(crate) const fn new(raw: R, value: T) -> Self {
        Self { raw, value }
    }

    pub(crate) fn into_inner(self) -> T {
        self.value
    }
}

impl<R, T: ?Sized> ReentrantCell<R, T> {
    pub(crate) fn raw(&self) -> &R {
        &self.raw
    }

    pub(crate) fn raw_mut(&mut self) -> &mut R {
        &mut self.raw
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<R: Reenter, T: ?Sized> ReentrantCell<R, T> {
    /// The value, for as long as that level lasts.
    #[inline]
    pub(crate) fn open<'l>(&'l self, level: &'l Level<'_, R>) -> &'l T {
        assert!(
            std::ptr::eq(level.lock(), &raw const self.raw),
            "a level of another lock"
        );
        &self.value
    }
}
