//! The raw lock of `Monitor`: who is inside is pinned, and waiting for it blocks the carrier.
//!
//! Exclusion and waiting are those of [`Reentrant`]; what is added are pins. A pinned holder never leaves its carrier, so no
//! neighbour there can come to the lock, and who waits for it sits on a carrier of its own.
//!
//! **Invariant (pins):** each level has one pin, from just after it was taken, or just before it was waited for, to just after it
//! was given back.

use std::panic::Location;

use crate::event::{PinReason, Subject};
use crate::pin::{self, Pin};
use crate::sync::raw::attempt::{Attempt, GaveUp};
use crate::sync::raw::condition::GiveBack;
use crate::sync::raw::level::{Level, Reenter};
use crate::sync::raw::reentrant::Reentrant;

/// See the module's documentation.
pub(crate) struct RawMonitor {
    lock: Reentrant,
}

/// What `Monitor::wait` gave back.
pub(crate) struct Given {
    levels: u32,
    pins: Vec<Pin>,
}

impl RawMonitor {
    pub(crate) const fn new() -> Self {
        Self {
            lock: Reentrant::new(),
        }
    }

    /// What names it in events.
    pub(crate) fn id(&self) -> u64 {
        std::ptr::from_ref(self).addr() as u64
    }

    /// The thread inside, 0 if none.
    pub(crate) fn holder(&self) -> u64 {
        self.lock.owner()
    }

    /// How often the calling thread is inside.
    pub(crate) fn depth(&self) -> u32 {
        self.lock.depth()
    }

    /// Enters if that takes no waiting, also past those who wait unless they have waited for long. Pins the calling
    /// virtual thread.
    #[inline]
    pub(crate) fn enter_at_once(
        &self,
        at: &'static Location<'static>,
        subject: Subject,
    ) -> Option<Level<'_, Self>> {
        let entered = self.lock.deepen_at_once();
        entered.then(|| self.pinned(at, subject))
    }

    /// Enters if no other thread is inside. Pins the calling virtual thread.
    pub(crate) fn try_enter(
        &self,
        at: &'static Location<'static>,
        subject: Subject,
    ) -> Option<Level<'_, Self>> {
        let entered = self.lock.try_deepen();
        entered.then(|| self.pinned(at, subject))
    }

    #[inline]
    fn pinned(&self, at: &'static Location<'static>, subject: Subject) -> Level<'_, Self> {
        pin::enter(PinReason::Monitor, at, Some(subject));
        Level::new(self)
    }

    /// Enters, waiting as `attempt` says. That blocks the carrier: the wait is a pin already.
    #[cold]
    pub(crate) fn enter(
        &self,
        at: &'static Location<'static>,
        subject: Subject,
        attempt: &mut Attempt,
    ) -> Result<Level<'_, Self>, GaveUp> {
        pin::enter(PinReason::Monitor, at, Some(subject));
        let pin = Pinned { id: subject.id };
        self.lock.deepen_waiting(attempt)?;
        // It is the level's now.
        std::mem::forget(pin);
        Ok(Level::new(self))
    }

    /// As if the holder had entered that often.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn set_depth(&self, depth: u32) {
        self.lock.set_depth(depth);
    }
}

impl Reenter for RawMonitor {
    #[inline]
    fn exit(&self) {
        self.lock.exit();
        pin::exit(PinReason::Monitor, self.id());
    }
}

impl GiveBack for RawMonitor {
    type Levels = Given;

    fn give_back(&self) -> Given {
        let pins = pin::take(PinReason::Monitor, self.id());
        let levels = self.lock.give_back();
        Given { levels, pins }
    }

    fn take_back(&self, given: &mut Given, attempt: &mut Attempt) {
        // Nothing is held and, without other pins, nothing pins yet: the thread waits unmounted.
        self.lock.take_back(&mut given.levels, attempt);
        pin::put_back(std::mem::take(&mut given.pins));
    }
}

/// A pin that is given back unless the monitor was entered.
struct Pinned {
    id: u64,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        pin::exit(PinReason::Monitor, self.id);
    }
}
