//! The proof that the calling thread is inside a reentrant lock.
//!
//! **Invariant (level):** a `Level` is made only by the raw lock that counted it, belongs to the thread that
//! entered, and gives its one level back when dropped. It cannot leave its thread.

use std::marker::PhantomData;

/// A reentrant raw lock, as far as levels need it.
pub(crate) trait Reenter {
    /// Gives one level of the calling thread back.
    fn exit(&self);
}

/// One level of the calling thread in `lock`.
pub(crate) struct Level<'a, R: Reenter> {
    lock: &'a R,
    _of_this_thread: PhantomData<*const ()>,
}

impl<'a, R: Reenter> Level<'a, R> {
    /// For raw locks, which have just counted the level.
    pub(super) fn new(lock: &'a R) -> Self {
        Self {
            lock,
            _of_this_thread: PhantomData,
        }
    }

    pub(crate) fn lock(&self) -> &'a R {
        self.lock
    }
}

impl<R: Reenter> Drop for Level<'_, R> {
    #[inline]
    fn drop(&mut self) {
        self.lock.exit();
    }
}
