//! What only a carrier's own OS thread touches: run queue, continuations, timers, and the request with which
//! the mounted thread left.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_deque::Worker;
use rustix::event::epoll;

use super::lateness::Lateness;
use super::patience::{Ends, Patience};
use super::timers::{Timer, Timers};
use super::{Carrier, OpenNative, OpenPin, Status, Unstarted};
use crate::continuation::{self, Continuation, Way};
use crate::current;
use crate::event::{self, Hub, Operation, Timestamp};
use crate::park::{Allow, PassOn, Record, Waiter};
use crate::primitive::Ordering;
use crate::runtime::Shared;

/// Readiness events taken from the kernel at a time.
const EVENTS: usize = 256;
/// Timers fired at a time.
const TIMERS: usize = 1024;
/// Why a spare carrier stands in for a pinned one.
const PINNED: &str = "pinned";

/// Why the mounted thread gave the carrier back.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    /// It stays ready, behind all others.
    Yield,
    /// It waits; the epoch of its wait, and who else may end that.
    Park(u64, Allow),
    /// It swallowed its cancellation: never to be resumed.
    Abandon,
}

/// What a pinned wait cost others.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stranded {
    /// Threads of this carrier that were ready meanwhile.
    pub(crate) threads: u32,
    /// Their waiting, summed, in nanoseconds: a lower bound, since a wake is seen when it is collected.
    pub(crate) nanos: u64,
}

/// Where a started thread is in its carrier's table. All that queues and inboxes pass on of it.
pub(super) type Place = u32;

/// A started thread that lives here.
pub(super) struct Tenant {
    /// Elsewhere while it is mounted.
    pub(super) record: Option<Arc<Record>>,
    pub(super) continuation: Continuation,
}

/// See the module's documentation.
pub(crate) struct Local {
    pub(super) shared: Arc<Shared>,
    pub(super) me: Arc<Carrier>,
    /// Ready threads by their places in `tenants`.
    pub(super) queue: RefCell<VecDeque<Place>>,
    pub(super) unstarted: Worker<Unstarted>,
    pub(super) tenants: RefCell<Vec<Option<Tenant>>>,
    vacant: RefCell<Vec<Place>>,
    timers: RefCell<Timers>,
    pub(super) request: Cell<Request>,
    /// When the thread that left last began its wait, as long as next to no time has passed since; else 0. Who is mounted
    /// next takes it for the end of its own wait: a clock costs more than all else of a record.
    left_at: Cell<u64>,
    events: RefCell<Vec<epoll::Event>>,
    /// Time of all pinned waits so far, in nanoseconds.
    pinned: Cell<u64>,
    /// What the mounted thread did without waiting, and in which mount.
    spent: Cell<(u64, u32)>,
    lateness: Lateness,
    /// Rounds of looking for work before the next sleep.
    pub(super) look_around: Cell<u32>,
    /// Descriptors are asked for readiness before the next sleep.
    pub(super) poll_pays: Cell<bool>,
    pub(super) patience: Patience,
    pub(super) ends: Ends,
}

impl Local {
    pub(crate) fn new(shared: Arc<Shared>, me: Arc<Carrier>, unstarted: Worker<Unstarted>) -> Self {
        Self {
            shared,
            me,
            queue: RefCell::default(),
            unstarted,
            tenants: RefCell::default(),
            vacant: RefCell::default(),
            timers: RefCell::default(),
            request: Cell::new(Request::Yield),
            left_at: Cell::new(0),
            events: RefCell::new(Vec::with_capacity(EVENTS)),
            pinned: Cell::new(0),
            spent: Cell::new((0, 0)),
            lateness: Lateness::default(),
            look_around: Cell::new(super::cycle::LOOK_AROUND),
            poll_pays: Cell::new(true),
            patience: Patience::default(),
            ends: Ends::default(),
        }
    }

    pub(crate) fn id(&self) -> usize {
        self.me.id
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn face(&self) -> &Arc<Carrier> {
        &self.me
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.shared.hub
    }

    /// The thread of that place is ready.
    pub(crate) fn push_ready(&self, place: Place) {
        self.queue.borrow_mut().push_back(place);
    }

    /// A thread spawned here: others may steal it until it starts.
    pub(crate) fn push_unstarted(&self, unstarted: Unstarted) {
        self.unstarted.push(unstarted);
    }

    /// Mounted thread: does no other live here or wait for its start, and can another carrier take what is spawned?
    pub(crate) fn is_alone(&self) -> bool {
        self.me.live.load(Ordering::Relaxed) == 1
            && self.unstarted.is_empty()
            && self.shared.another_can_take(self.me.id)
    }

    /// Mounted thread: unmounts until its wait `epoch` ends.
    #[inline(always)]
    pub(crate) fn park(&self, epoch: u64, allow: Allow, operation: Operation) {
        if self.hub().wants_park(self.id()) {
            self.park_recorded(epoch, allow, operation);
        } else {
            self.time_passes();
            self.leave(Request::Park(epoch, allow));
        }
    }

    #[cold]
    fn park_recorded(&self, epoch: u64, allow: Allow, operation: Operation) {
        let (hub, record) = (self.hub(), current::record());
        let name = record.name.as_deref();
        let since = event::now();
        hub.parking(self.id(), record.id, name, operation, since);
        self.left_at.set(since.0);
        self.leave(Request::Park(epoch, allow));
        let now = match self.left_at.take() {
            0 => event::now(),
            left_at => Timestamp(left_at),
        };
        let parked = now.0.saturating_sub(since.0);
        hub.parked(self.id(), record.id, name, operation, now, parked);
    }

    /// Mounted thread: leaves the call of the next waiter of `queue` to its carrier, if that one lives here too and
    /// could not run now.
    pub(crate) fn owe_call<Q: PassOn + 'static>(&self, home: usize, queue: &Arc<Q>) -> bool {
        home == self.me.key() && self.me.status() == Status::Running && self.me.owed.take_on(queue)
    }

    /// Mounted thread: the call would be in vain.
    pub(crate) fn waive_call<Q>(&self, queue: &Arc<Q>) {
        self.me.owed.waive(queue);
    }

    /// Mounted thread: lets all other ready threads run first.
    #[inline]
    pub(crate) fn yield_now(&self) {
        self.time_passes();
        self.leave(Request::Yield);
    }

    /// Mounted thread: it did something that might have waited, and did not; the how manieth in this mount?
    #[inline]
    pub(crate) fn spend(&self) -> u32 {
        let mount = self.me.mounts.load(Ordering::Relaxed);
        let (last, spent) = self.spent.get();
        let spent = if last == mount { spent + 1 } else { 1 };
        self.spent.set((mount, spent));
        spent
    }

    /// Mounted thread: [`yield_now`](Self::yield_now) as soon as it takes the way.
    pub(crate) fn prepare_to_yield(&self) -> Option<Way> {
        self.time_passes();
        self.request.set(Request::Yield);
        continuation::way_off()
    }

    /// Mounted thread: leaves for ever. Its stack stays as it is, with all that borrows from it.
    pub(crate) fn abandon(&self) {
        self.time_passes();
        self.leave(Request::Abandon);
    }

    /// What the thread that left last noted of the clock is of no use any more.
    #[inline]
    pub(super) fn time_passes(&self) {
        self.left_at.set(0);
    }

    #[inline(always)]
    fn leave(&self, request: Request) {
        self.request.set(request);
        continuation::suspend();
    }

    /// Takes a thread in and tells its record where it lives.
    pub(super) fn settle(&self, record: Arc<Record>, continuation: Continuation) -> Place {
        let mut tenants = self.tenants.borrow_mut();
        let place = self.vacant.borrow_mut().pop().unwrap_or_else(|| {
            tenants.push(None);
            Place::try_from(tenants.len() - 1).expect("fewer threads than addresses")
        });
        record.settle_on(self.me.id, place, continuation.bounds());
        tenants[place as usize] = Some(Tenant {
            record: Some(record),
            continuation,
        });
        place
    }

    /// Drops a continuation that has finished; its place is free again.
    pub(super) fn vacate(&self, place: Place) {
        let finished = self.tenants.borrow_mut()[place as usize].take();
        drop(finished);
        self.vacant.borrow_mut().push(place);
    }

    /// Collects what others woke; returns how many.
    pub(super) fn drain_inbox(&self) -> usize {
        self.me.inbox.take_into(&mut *self.queue.borrow_mut())
    }

    /// Ends the waits whose deadline has passed.
    pub(super) fn fire_timers(&self) {
        let Some(next) = self.timers.borrow().next() else {
            return;
        };
        let now = event::now().0;
        if next > now {
            return;
        }
        // A common deadline of very many must not keep this from the rest; those left are still due.
        for _ in 0..TIMERS {
            let due = self.timers.borrow_mut().pop_due(now);
            let Some(waiter) = due else { break };
            waiter.time_out_at_home(self);
        }
        self.publish_deadline();
    }

    /// Mounted thread: `waiter`, which waits for `length` in all, times out at `deadline`, in nanoseconds of the runtime's
    /// clock.
    pub(crate) fn set_timer(&self, deadline: u64, length: u64, waiter: Waiter) -> Timer {
        let timer = self.timers.borrow_mut().insert(deadline, length, waiter);
        self.publish_deadline();
        timer
    }

    /// Mounted thread: forgets a deadline that has not fired.
    pub(crate) fn cancel_timer(&self, timer: Timer) {
        self.timers.borrow_mut().cancel(timer);
        self.publish_deadline();
    }

    /// Tells the watchdog when the earliest timer is due.
    fn publish_deadline(&self) {
        let next = self.timers.borrow().next().unwrap_or(u64::MAX);
        self.me.next_deadline.store(next, Ordering::Relaxed);
    }

    /// Collects readiness without waiting.
    pub(super) fn poll(&self) {
        self.me
            .driver
            .poll(self, Some(Duration::ZERO), &mut self.events.borrow_mut());
    }

    /// Sleeps until something comes from outside, a timer is due, `ready` says so, or that many nanoseconds have passed.
    ///
    /// A wake-up that comes before the epoll wait begins ends it all the same: it is written to the eventfd.
    ///
    /// Did it, and so collect readiness?
    pub(super) fn sleep(&self, most: Option<u64>, ready: impl Fn() -> bool) -> bool {
        let wake = self.timers.borrow().wake();
        let next = wake.filter(|wake| wake.is_exact).map(|wake| wake.at);
        let has_news = || self.me.has_news() || ready();
        let spin_until = |due: u64, mut now: u64| {
            while now < due && !has_news() {
                std::hint::spin_loop();
                now = event::now().0;
            }
        };
        if let Some(next) = next {
            let now = event::now().0;
            if self.lateness.is_near(next, now) {
                spin_until(next, now);
                return false;
            }
        }
        if !self.me.bell.lie_down(has_news) {
            return false;
        }
        let begun = event::now().0;
        let early = next.map(|next| self.lateness.ask_for(next, begun));
        let until = early.or(wake.map(|wake| wake.at));
        let until = until.map(|until| until.saturating_sub(begun));
        let limit = until.into_iter().chain(most).min();
        let limit = limit.map(Duration::from_nanos);
        let mut events = self.events.borrow_mut();
        self.me.driver.poll(self, limit, &mut events);
        self.me.bell.get_up();
        if let (Some(next), Some(early), true) = (next, early, events.is_empty()) {
            let now = event::now().0;
            self.lateness.slept(now.saturating_sub(begun));
            if begun < early && early <= now {
                self.lateness.learn(early, now);
            }
            // Not after a signal, which ends a sleep at any time.
            if early <= now {
                spin_until(next, now);
            }
        }
        true
    }

    /// Mounted, pinned thread: blocks the carrier while `waits` holds. Timers, I/O and wakes of others are
    /// served meanwhile, but nobody is mounted; wake-ones they were offered go to others.
    pub(crate) fn drive_while_pinned(
        &self,
        open: OpenPin,
        began: Timestamp,
        waits: impl Fn() -> bool,
    ) -> Stranded {
        let before = self.me.set_status(Status::Pinned);
        self.me.owed.pay();
        // Not the pin's own start: an operation that waits again counts the time of each wait once.
        let mut since = began.0;
        *self.me.open_pin.lock() = Some(open);
        self.shared.rescue_unstarted();
        let compensated = self.shared.settings.compensate_pinned;
        if compensated {
            self.shared.open_region(PINNED);
        }
        let mut cost = Stranded::default();
        let mut ready = self.count_ready();
        cost.threads = ready;
        self.me.revoke_offers();
        while waits() {
            self.sleep(None, || !waits());
            let now = event::now().0;
            cost.nanos += now.saturating_sub(since) * u64::from(ready);
            since = now;
            self.drain_inbox();
            self.fire_timers();
            let now_ready = self.count_ready();
            cost.threads += now_ready.saturating_sub(ready);
            ready = now_ready;
            self.me.revoke_offers();
        }
        *self.me.open_pin.lock() = None;
        self.me.set_status(before);
        if compensated {
            self.shared.close_region(PINNED);
        }
        self.pinned
            .set(self.pinned.get() + event::now().0.saturating_sub(began.0));
        cost
    }

    /// Time of all pinned waits so far, in nanoseconds.
    pub(crate) fn pinned_nanos(&self) -> u64 {
        self.pinned.get()
    }

    /// Ready threads of this carrier, and unstarted ones that nobody else can take. Published for others.
    fn count_ready(&self) -> u32 {
        let started = self.queue.borrow().len();
        let unstarted = if self.shared.another_can_take(self.me.id) {
            0
        } else {
            self.unstarted.len() + self.shared.injector.len()
        };
        let ready = started + unstarted + self.me.assigned.len();
        self.me.ready.store(ready, Ordering::Relaxed);
        u32::try_from(ready).unwrap_or(u32::MAX)
    }

    /// Mounted thread: a declared foreign call begins. Others take over what they can, since it may block.
    pub(crate) fn enter_native(&self, call: OpenNative) -> Status {
        self.count_ready();
        self.me.open_native.lock().get_or_insert(call);
        let before = self.me.set_status(Status::Native);
        self.me.owed.pay();
        self.shared.rescue_unstarted();
        self.me.revoke_offers();
        before
    }

    /// Mounted thread: the foreign call has returned; `before` is what [`enter_native`](Self::enter_native) gave.
    pub(crate) fn leave_native(&self, before: Status) {
        if before != Status::Native {
            *self.me.open_native.lock() = None;
        }
        self.me.set_status(before);
    }
}
