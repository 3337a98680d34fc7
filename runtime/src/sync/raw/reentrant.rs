//! The reentrant raw lock owned by a virtual thread (or an OS thread): [`Exclusive`] plus a count.
//!
//! **Invariant (depth):** `depth` is read and written only by the owner, so plain loads and stores do; it is
//! 0 whenever the lock is free.

use crate::primitive::constant::{AtomicU32, Ordering};
use crate::sync::raw::attempt::{Attempt, GaveUp};
use crate::sync::raw::condition::GiveBack;
use crate::sync::raw::exclusive::Exclusive;
use crate::sync::raw::level::{Level, Reenter};

/// See the module's documentation.
pub(crate) struct Reentrant {
    exclusive: Exclusive,
    depth: AtomicU32,
}

impl Reentrant {
    pub(crate) const fn new() -> Self {
        Self {
            exclusive: Exclusive::new(),
            depth: AtomicU32::new(0),
        }
    }

    pub(crate) const fn set_fair(&mut self, fair: bool) {
        self.exclusive.set_fair(fair);
    }

    /// Enters if that takes no waiting; keeps to the order of a fair lock.
    #[inline]
    pub(crate) fn enter_at_once(&self) -> Option<Level<'_, Self>> {
        self.deepen_at_once().then(|| Level::new(self))
    }

    /// Enters if the lock is free or the caller's own, also past those who wait.
    #[inline]
    pub(crate) fn try_enter(&self) -> Option<Level<'_, Self>> {
        self.try_deepen().then(|| Level::new(self))
    }

    /// Enters, waiting as `attempt` says. The caller has tried [`enter_at_once`](Self::enter_at_once).
    pub(crate) fn enter(&self, attempt: &mut Attempt) -> Result<Level<'_, Self>, GaveUp> {
        self.deepen_waiting(attempt).map(|()| Level::new(self))
    }

    /// [`enter_at_once`](Self::enter_at_once), for who makes the level.
    #[inline]
    pub(super) fn deepen_at_once(&self) -> bool {
        if self.exclusive.acquire_at_once() {
            self.depth.store(1, Ordering::Relaxed);
        } else if self.exclusive.is_mine() {
            self.deepen();
        } else {
            return false;
        }
        true
    }

    /// [`try_enter`](Self::try_enter), for who makes the level.
    #[inline]
    pub(super) fn try_deepen(&self) -> bool {
        self.deepen_at_once() || {
            let taken = self.exclusive.try_acquire();
            if taken {
                self.depth.store(1, Ordering::Relaxed);
            }
            taken
        }
    }

    /// [`enter`](Self::enter), for who makes the level.
    pub(super) fn deepen_waiting(&self, attempt: &mut Attempt) -> Result<(), GaveUp> {
        self.exclusive.acquire(attempt)?;
        self.depth.store(1, Ordering::Relaxed);
        Ok(())
    }

    /// What names it in events.
    pub(crate) fn id(&self) -> u64 {
        self.exclusive.id()
    }

    pub(crate) fn is_mine(&self) -> bool {
        self.exclusive.is_mine()
    }

    /// How often the calling thread is inside.
    pub(crate) fn depth(&self) -> u32 {
        if self.is_mine() {
            self.depth.load(Ordering::Relaxed)
        } else {
            0
        }
    }

    /// The id of the thread that holds it, 0 if it is free.
    pub(crate) fn owner(&self) -> u64 {
        self.exclusive.owner()
    }

    /// As if the owner had entered that often.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn set_depth(&self, depth: u32) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    fn deepen(&self) {
        let depth = self.depth.load(Ordering::Relaxed).checked_add(1);
        self.depth.store(
            depth.expect("a thread entered a reentrant lock 4294967295 times"),
            Ordering::Relaxed,
        );
    }
}

impl Reenter for Reentrant {
    #[inline]
    fn exit(&self) {
        let depth = self.depth.load(Ordering::Relaxed) - 1;
        self.depth.store(depth, Ordering::Relaxed);
        if depth == 0 {
            self.exclusive.release();
        }
    }
}

impl GiveBack for Reentrant {
    type Levels = u32;

    fn give_back(&self) -> u32 {
        let levels = self.depth.load(Ordering::Relaxed);
        self.depth.store(0, Ordering::Relaxed);
        self.exclusive.give_back();
        levels
    }

    fn take_back(&self, levels: &mut u32, attempt: &mut Attempt) {
        self.exclusive.take_back(&mut (), attempt);
        self.depth.store(*levels, Ordering::Relaxed);
    }
}
