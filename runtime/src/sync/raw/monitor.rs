//! The raw lock of `Monitor`: owned by the OS thread, so its holder must stay mounted.
//!
//! Exclusion is parking_lot's raw reentrant mutex, of which only `try_lock` and `unlock` are used. Waiting is
//! our queue, through the door, so that a pinned waiter still drives its carrier and is named in events.
//!
//! **Invariant (same thread):** levels cannot leave their thread, started virtual threads never change their
//! carrier, and who holds a level is pinned. So the OS thread that unlocks is the one that locked, and no
//! neighbour on the carrier runs meanwhile. `holder` checks it: parking_lot would count a neighbour as a
//! re-entry.
//!
//! **Invariant (no lost wake-up):** a waiter raises `waiting` before its last `try_lock`, the holder reads it
//! after its `unlock`, with a full fence in between on both sides. So the waiter gets the lock or the holder
//! calls it.
#![expect(
    unsafe_code,
    reason = "parking_lot's raw mutex is unlocked by hand: Monitor::wait gives back outer levels"
)]

use std::panic::Location;

use parking_lot::lock_api::RawReentrantMutex;
use parking_lot::{RawMutex, RawThreadId};

use crate::event::{PinReason, Subject};
use crate::park;
use crate::pin::{self, Pin};
use crate::primitive::constant::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use crate::sync::raw::attempt::{Attempt, GaveUp};
use crate::sync::raw::condition::GiveBack;
use crate::sync::raw::level::{Level, Reenter};
use crate::sync::wait_queue::{Line, Place, WaitQueue};

/// See the module's documentation.
pub(crate) struct RawMonitor {
    raw: RawReentrantMutex<RawMutex, RawThreadId>,
    /// The thread inside, 0 if none. Written by the holder only.
    holder: AtomicU64,
    /// Its levels. Read and written by the holder only.
    depth: AtomicU32,
    /// Somebody waits to enter. Written under the queue's lock.
    waiting: AtomicBool,
    queue: WaitQueue,
}

/// What `Monitor::wait` gave back.
pub(crate) struct Given {
    levels: u32,
    pins: Vec<Pin>,
}

impl RawMonitor {
    pub(crate) const fn new() -> Self {
        Self {
            raw: RawReentrantMutex::INIT,
            holder: AtomicU64::new(0),
            depth: AtomicU32::new(0),
            waiting: AtomicBool::new(false),
            queue: WaitQueue::new(),
        }
    }

    /// What names it in events.
    pub(crate) fn id(&self) -> u64 {
        std::ptr::from_ref(self).addr() as u64
    }

    /// The thread inside, 0 if none.
    pub(crate) fn holder(&self) -> u64 {
        self.holder.load(Ordering::Relaxed)
    }

    /// How often the calling thread is inside.
    pub(crate) fn depth(&self) -> u32 {
        if self.holder() == park::me() {
            self.depth.load(Ordering::Relaxed)
        } else {
            0
        }
    }

    /// Enters if that takes no waiting. Pins the calling virtual thread.
    #[inline]
    pub(crate) fn try_enter(
        &self,
        at: &'static Location<'static>,
        subject: Subject,
    ) -> Option<Level<'_, Self>> {
        self.lock_once().then(|| {
            pin::enter(PinReason::Monitor, at, Some(subject));
            Level::new(self)
        })
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
        self.lock_waiting(attempt)?;
        // It is the level's now.
        std::mem::forget(pin);
        Ok(Level::new(self))
    }

    /// As if the holder had entered that often.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn set_depth(&self, depth: u32) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    /// One `try_lock`, counted.
    #[inline]
    fn lock_once(&self) -> bool {
        if !self.raw.try_lock() {
            return false;
        }
        let me = park::me();
        let depth = self.depth.load(Ordering::Relaxed);
        if depth == 0 {
            self.holder.store(me, Ordering::Relaxed);
        } else if self.holder() != me {
            neighbour_inside(self.holder(), me);
        }
        let Some(deeper) = depth.checked_add(1) else {
            self.raw_unlock();
            panic!("a thread entered a monitor 4294967295 times");
        };
        self.depth.store(deeper, Ordering::Relaxed);
        true
    }

    fn lock_waiting(&self, attempt: &mut Attempt) -> Result<(), GaveUp> {
        let mut line = self.queue.lock();
        let waiter = attempt.prepare();
        let mut epoch = waiter.epoch();
        let place = Place::join(&self.queue, &mut line, waiter, 1);
        loop {
            self.publish(&line);
            if self.lock_once() {
                place.settle(&mut line);
                self.publish(&line);
                return Ok(());
            }
            drop(line);
            attempt.wait(epoch, self.holder())?;
            let waiter = attempt.prepare();
            epoch = waiter.epoch();
            line = self.queue.lock();
            place.rejoin(&mut line, waiter);
        }
    }

    /// Makes the flag say what the queue holds; what follows is ordered after it for the holder.
    fn publish(&self, line: &Line<'_>) {
        self.waiting.store(!line.is_empty(), Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// The holder gives one level of the mutex back; its own count is up to the caller.
    #[inline]
    fn raw_unlock(&self) {
        // SAFETY: (same thread) called only for a level that this thread has locked and not unlocked.
        unsafe { self.raw.unlock() };
    }

    /// After the last unlock: calls who waits.
    #[inline]
    fn call_next(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) {
            self.call_waiting();
        }
    }

    #[cold]
    fn call_waiting(&self) {
        let chosen = self.queue.lock().choose(1);
        chosen.call();
    }
}

impl Reenter for RawMonitor {
    #[inline]
    fn exit(&self) {
        let depth = self.depth.load(Ordering::Relaxed) - 1;
        self.depth.store(depth, Ordering::Relaxed);
        if depth == 0 {
            self.holder.store(0, Ordering::Relaxed);
        }
        self.raw_unlock();
        pin::exit(PinReason::Monitor, self.id());
        if depth == 0 {
            self.call_next();
        }
    }
}

impl GiveBack for RawMonitor {
    type Levels = Given;

    fn give_back(&self) -> Given {
        let levels = self.depth.load(Ordering::Relaxed);
        let pins = pin::take(PinReason::Monitor, self.id());
        self.depth.store(0, Ordering::Relaxed);
        self.holder.store(0, Ordering::Relaxed);
        for _ in 0..levels {
            self.raw_unlock();
        }
        self.call_next();
        Given { levels, pins }
    }

    fn take_back(&self, given: &mut Given, attempt: &mut Attempt) {
        // Nothing is held and, without other pins, nothing pins yet: the thread waits unmounted.
        while !self.lock_once() && self.lock_waiting(attempt).is_err() {}
        for _ in 1..given.levels {
            // The mutex is this thread's, so these only count.
            self.lock_once();
        }
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

/// Two virtual threads of one carrier inside one monitor: memory safety is at stake, so nothing may go on.
#[cold]
fn neighbour_inside(holder: u64, me: u64) -> ! {
    eprintln!(
        "vt-runtime: thread #{me} entered a monitor that thread #{holder} of the same carrier holds"
    );
    std::process::abort();
}
