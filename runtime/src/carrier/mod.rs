//! A carrier: one OS thread that runs virtual threads, and what the rest of the process may touch of it.
//!
//! [`Carrier`] is the shared face (wakes from outside, its sleep, its status); `Local` is what only its
//! own OS thread touches (run queue, continuations, timers, the loop). Its sleep is a [`Bell`]'s.

pub(crate) mod current;
mod cycle;
mod driver;
mod inbox;
mod lateness;
mod local;
mod owed;
mod pace;
mod patience;
mod precise;
mod timers;

use std::os::fd::OwnedFd;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crossbeam_deque::Stealer;
use parking_lot::Mutex;

use inbox::Inbox;
use owed::Owed;

pub(crate) use driver::{Direction, Registration};
pub(crate) use local::{Local, Stranded};
pub(crate) use timers::Timer;

use crate::continuation::Reservation;
use crate::event::Timestamp;
use crate::park::{Offer, Record};
use crate::pin::Effective;
use crate::primitive::{AtomicBool, AtomicU64, AtomicUsize, Bell, Body, Ordering, fence};
use crate::runtime::PinCounters;

/// A virtual thread that has not run yet: all that placement, queues and stealing ever move.
pub(crate) struct Unstarted {
    pub(crate) record: Arc<Record>,
    pub(crate) body: Body,
    pub(crate) stack: Reservation,
}

/// A pinned wait that lasts, for the watchdog and dumps.
#[derive(Clone)]
pub(crate) struct OpenPin {
    pub(crate) record: Arc<Record>,
    pub(crate) pin: Effective,
    pub(crate) start: Timestamp,
}

/// The outermost declared foreign call of the mounted thread, for the watchdog and dumps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenNative {
    pub(crate) label: &'static str,
    pub(crate) at: &'static Location<'static>,
    pub(crate) start: Timestamp,
}

/// What a carrier is doing, as others see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Status {
    /// Looks for work or sleeps.
    Idle = 0,
    /// Runs virtual threads.
    Running = 1,
    /// Its mounted thread waits and is pinned.
    Pinned = 2,
    /// Its mounted thread is inside a declared foreign call or a blocking region.
    Native = 3,
    /// The watchdog found it blocked or computing for long outside any declared region.
    Stalled = 4,
    /// Its OS thread has ended, or was never started.
    Gone = 5,
}

/// What a carrier is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Runs whatever is spawned.
    Regular,
    /// Starts what others cannot, while regions block them.
    Spare,
    /// Runs one thread at a time, which was spawned for an OS thread of its own.
    Dedicated,
}

/// The shared face of one carrier.
pub(crate) struct Carrier {
    pub(crate) id: usize,
    pub(crate) role: Role,
    /// A dedicated carrier: its thread has not ended.
    taken: AtomicBool,
    /// Started threads of this carrier that others woke.
    inbox: Inbox<local::Place>,
    /// Unstarted threads that must run here.
    assigned: Inbox<Unstarted>,
    pub(crate) stealer: Stealer<Unstarted>,
    bell: Bell,
    wake: OwnedFd,
    pub(crate) driver: driver::Driver,
    status: AtomicU32,
    /// Started threads that live here.
    pub(crate) live: AtomicUsize,
    /// Counts mounts; with `mounted` it tells the watchdog whether anything moved.
    pub(crate) mounts: AtomicU64,
    /// Id of the mounted thread, 0 if none.
    pub(crate) mounted: AtomicU64,
    /// Started threads that were ready when the carrier last published it.
    pub(crate) ready: AtomicUsize,
    /// Its threads end as soon as they are mounted: see `patience`.
    pub(crate) fleeting: AtomicBool,
    /// When the earliest timer is due, `u64::MAX` if there is none.
    pub(crate) next_deadline: AtomicU64,
    /// What its own pins took; only its thread counts.
    pub(crate) pins: PinCounters,
    /// Kernel id of its OS thread.
    pub(crate) tid: AtomicU32,
    /// Wake-ones offered to threads of this carrier and perhaps not accepted yet.
    offers: Mutex<Offers>,
    owed: Owed,
    open_pin: Mutex<Option<OpenPin>>,
    open_native: Mutex<Option<OpenNative>>,
    /// A stack that the watchdog saw, and when the wait or call began which it is of.
    seen: Mutex<(Timestamp, Vec<u64>)>,
}

impl Carrier {
    pub(crate) fn new(id: usize, role: Role, stealer: Stealer<Unstarted>) -> std::io::Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let driver = driver::Driver::new(&wake)?;
        Ok(Self {
            id,
            role,
            taken: AtomicBool::new(role == Role::Dedicated),
            inbox: Inbox::new(),
            assigned: Inbox::new(),
            stealer,
            bell: Bell::new(),
            wake,
            driver,
            status: AtomicU32::new(Status::Idle as u32),
            live: AtomicUsize::new(0),
            mounts: AtomicU64::new(0),
            mounted: AtomicU64::new(0),
            ready: AtomicUsize::new(0),
            fleeting: AtomicBool::new(false),
            next_deadline: AtomicU64::new(u64::MAX),
            pins: PinCounters::default(),
            tid: AtomicU32::new(0),
            offers: Mutex::default(),
            owed: Owed::default(),
            open_pin: Mutex::default(),
            open_native: Mutex::default(),
            seen: Mutex::default(),
        })
    }

    /// Anybody: the thread of that place is ready.
    pub(crate) fn deliver(&self, place: local::Place) {
        self.inbox.put(place);
        self.wake_up();
    }

    /// Anybody: that thread must start here.
    pub(crate) fn assign(&self, unstarted: Unstarted) {
        self.assigned.put(unstarted);
        self.wake_up();
    }

    /// A spawn: takes a dedicated carrier that has no thread.
    pub(crate) fn dedicate(&self) -> bool {
        self.role == Role::Dedicated && !self.taken.swap(true, Ordering::AcqRel)
    }

    /// Its thread has ended: it may have another.
    pub(crate) fn release(&self) {
        self.taken.store(false, Ordering::Release);
    }

    /// Has anything been put down here that it has not seen?
    fn has_news(&self) -> bool {
        self.inbox.is_filled() || self.assigned.is_filled()
    }

    /// Anybody: the carrier looks around again if it sleeps or is about to.
    pub(crate) fn wake_up(&self) {
        if self.bell.ring() {
            // An eventfd's counter cannot overflow by ones, and a full one wakes just as well.
            let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
        }
    }

    /// Does it sleep, with nothing to do?
    pub(crate) fn is_asleep(&self) -> bool {
        self.status() == Status::Idle && self.bell.is_asleep()
    }

    /// Was a timer due that the carrier has not fired?
    pub(crate) fn has_due_timer(&self) -> bool {
        self.next_deadline.load(Ordering::Relaxed) <= crate::event::now().0
    }

    /// Threads known to wait for this carrier, for the watchdog: a lower bound.
    pub(crate) fn stranded_now(&self) -> usize {
        self.ready.load(Ordering::Relaxed) + self.inbox.len() + self.assigned.len()
    }

    pub(crate) fn status(&self) -> Status {
        match self.status.load(Ordering::Relaxed) {
            1 => Status::Running,
            2 => Status::Pinned,
            3 => Status::Native,
            4 => Status::Stalled,
            5 => Status::Gone,
            _ => Status::Idle,
        }
    }

    pub(crate) fn set_status(&self, status: Status) -> Status {
        let before = self.status();
        self.status.store(status as u32, Ordering::Relaxed);
        before
    }

    /// Watchdog: marks a carrier that has not moved, unless it did meanwhile.
    pub(crate) fn mark_stalled(&self) -> bool {
        let (running, stalled) = (Status::Running as u32, Status::Stalled as u32);
        let marked = self
            .status
            .compare_exchange(running, stalled, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();
        if marked {
            self.revoke_offers();
        }
        marked
    }

    /// Cannot mount anybody now: pinned, in a foreign call, or stalled.
    pub(crate) fn is_stuck(&self) -> bool {
        matches!(
            self.status(),
            Status::Pinned | Status::Native | Status::Stalled
        )
    }

    /// Remembers a wake-one that a thread of this carrier was given. If nobody can be mounted here, it goes to
    /// another waiter at once.
    ///
    /// No token is lost: here the offer is put down first, then comes a SeqCst fence, then the look at the
    /// status; a carrier that pins sets its status first, then comes the fence, then it revokes.
    pub(crate) fn add_offer(&self, offer: Offer) {
        self.offers.lock().add(offer);
        fence(Ordering::SeqCst);
        if self.is_stuck() {
            self.revoke_offers();
        }
    }

    /// Passes on what was offered to threads of this carrier and not accepted: it cannot mount them now. Makes the call
    /// that it owes.
    pub(crate) fn revoke_offers(&self) {
        self.owed.call_for();
        fence(Ordering::SeqCst);
        let offers = std::mem::take(&mut self.offers.lock().given);
        for offer in offers {
            offer.revoke();
        }
    }

    /// The carrier's OS thread ends: nobody lives here whom a wake-one could be for. What was offered and accepted names
    /// records, and those name the runtime that owns this carrier.
    fn retire(&self) {
        self.set_status(Status::Gone);
        let offers = std::mem::take(&mut self.offers.lock().given);
        drop(offers);
        self.owed.forget();
    }

    /// Tells it from all carriers of the process.
    pub(crate) fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    pub(crate) fn open_pin(&self) -> Option<OpenPin> {
        self.open_pin.lock().clone()
    }

    pub(crate) fn open_native(&self) -> Option<OpenNative> {
        *self.open_native.lock()
    }

    /// For the carrier to report at the end, where it cannot take the stack itself.
    pub(crate) fn keep_seen(&self, start: Timestamp, stack: Vec<u64>) {
        *self.seen.lock() = (start, stack);
    }

    /// The stack that was seen of the wait or call that began then; empty if none was.
    pub(crate) fn take_seen(&self, start: Timestamp) -> Vec<u64> {
        let (of, stack) = std::mem::take(&mut *self.seen.lock());
        if of == start { stack } else { Vec::new() }
    }
}

/// Wake-ones given to threads of one carrier: all that are open, and some that were accepted.
#[derive(Default)]
struct Offers {
    given: Vec<Offer>,
    /// At this length accepted ones are sorted out.
    sort_at: usize,
}

impl Offers {
    fn add(&mut self, offer: Offer) {
        if self.given.len() >= self.sort_at {
            self.given.retain(Offer::is_open);
            self.sort_at = (self.given.len() * 2).max(32);
        }
        self.given.push(offer);
    }
}
