//! The loop of a carrier's OS thread: take, mount, act on how the thread left, look around, sleep.
//!
//! **Invariant (affinity):** a started thread is mounted only by the carrier that started it. Its continuation is
//! in this carrier's own table, is not `Send`, and never leaves it.
//!
//! **Invariant (bounded wait):** a ready thread is mounted after at most the threads that were ready before
//! it, plus one unstarted thread for every [`START_EVERY`] mounts and one for each look. Inbox, timers, I/O and what
//! was spawned from outside are looked at whenever the run queue is empty, and else at the [pace](super::pace) of at
//! most 61 mounts or about a millisecond. A thread that computes without waiting or yielding is not interrupted.

use std::rc::Rc;
use std::sync::Arc;

use super::local::{Local, Place, Request};
use super::pace::Pace;
use super::patience::LOOK_AGAIN;
use super::{Carrier, Role, Status, Unstarted};
use crate::continuation::{Continuation, Step, ThreadLabel, prefetch_value};
use crate::current;
use crate::event::{self, Event, Lifetime, ThreadRef};
use crate::park::{self, Place as Stays, Record};
use crate::pin;
use crate::primitive::Ordering;

/// Mounts between two starts while the run queue is not empty.
const START_EVERY: u32 = 8;
/// Rounds of looking for work before the carrier sleeps: waking a halted core costs about 36 µs on a
/// virtual machine, so a few microseconds of looking are repaid by one wake-up saved. Halved each time that it was in
/// vain: a server whose requests come one by one would spend a fifth of its time on looking.
pub(super) const LOOK_AROUND: u32 = 40;
/// About how long that many rounds take, in nanoseconds: what comes within is worth looking for.
const PATIENCE: u64 = 15_000;

/// So many ready threads stay in the cache by themselves.
const FEW: usize = 16;
/// How many mounts ahead the cache is asked for a thread's continuation and record, and for its frames.
const TENANT_AHEAD: usize = 6;
const FRAMES_AHEAD: usize = 3;

/// A carrier that unwinds would leave its threads unmounted for ever: better to end loudly.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}

impl Local {
    /// Runs until the runtime stops and no thread lives here.
    pub(crate) fn run(self) {
        let local = Rc::new(self);
        current::become_carrier(Some(Rc::clone(&local)));
        let alive = AbortOnUnwind;
        local.cycle();
        std::mem::forget(alive);
        current::become_carrier(None);
        local.me.retire();
    }

    fn cycle(&self) {
        self.me.set_status(Status::Running);
        let mut tick: u32 = 0;
        let mut pace = Pace::new();
        loop {
            tick = tick.wrapping_add(1);
            if pace.is_due() {
                self.look_outside();
                self.poll();
                let (mounts, each) = pace.looked(event::now().0);
                let fleeting = self.ends.are_fleeting(mounts, each);
                self.me.fleeting.store(fleeting, Ordering::Relaxed);
                // Else what is spawned from outside would wait for a busy carrier's last thread to wait.
                let injected = self.shared.find_injected(&self.me);
                if let Some(place) = injected.and_then(|unstarted| self.start(unstarted)) {
                    self.push_ready(place);
                }
            }
            let Some(place) = self.next(tick, &mut pace) else {
                if self.shared.may_end() {
                    return;
                }
                if self.idle() {
                    pace.idled();
                    self.ends.forget();
                }
                continue;
            };
            // The only call, and inlined: a return after a switch of stacks is always predicted wrongly.
            self.mount(place);
        }
    }

    /// The thread to mount now; looks everywhere before it says that there is none.
    fn next(&self, tick: u32, pace: &mut Pace) -> Option<Place> {
        if tick.is_multiple_of(START_EVERY)
            && let Some(place) = self.start_one(false).or_else(|| self.start_of_a_fuller())
        {
            return Some(place);
        }
        if let Some(place) = self.pop_ready() {
            return Some(place);
        }
        self.look_outside();
        if let Some(place) = self.pop_ready().or_else(|| self.start_one(true)) {
            return Some(place);
        }
        if !self.poll_pays.get() {
            return None;
        }
        self.poll();
        // Not before: a carrier that always finds something above would never look at its descriptors.
        pace.idled();
        self.ends.forget();
        let found = self.pop_ready();
        self.poll_pays.set(found.is_some());
        found
    }

    fn start_of_a_fuller(&self) -> Option<Place> {
        let unstarted = self.shared.find_at_a_fuller(&self.me, &self.unstarted)?;
        self.start(unstarted)
    }

    fn pop_ready(&self) -> Option<Place> {
        let place = self.queue.borrow_mut().pop_front()?;
        self.prefetch();
        Some(place)
    }

    /// Asks the cache for what the coming mounts will touch: continuation and record, then the frames that the
    /// continuation names.
    #[inline]
    fn prefetch(&self) {
        let queue = self.queue.borrow();
        if queue.len() <= FEW {
            return;
        }
        let tenants = self.tenants.borrow();
        let tenant = |ahead: usize| tenants.get(*queue.get(ahead)? as usize)?.as_ref();
        if let Some(tenant) = tenant(TENANT_AHEAD) {
            tenant.continuation.prefetch();
            if let Some(record) = &tenant.record {
                prefetch_value(&**record);
            }
        }
        if let Some(tenant) = tenant(FRAMES_AHEAD) {
            tenant.continuation.prefetch_frames();
        }
    }

    fn look_outside(&self) {
        self.time_passes();
        self.drain_inbox();
        self.fire_timers();
        let mut assigned = Vec::new();
        self.me.assigned.take_into(&mut assigned);
        for unstarted in assigned {
            if let Some(place) = self.start(unstarted) {
                self.push_ready(place);
            }
        }
    }

    /// Starts one thread; `anywhere` also looks at the injector and at other carriers.
    fn start_one(&self, anywhere: bool) -> Option<Place> {
        loop {
            let unstarted = match self.unstarted.pop() {
                Some(unstarted) => unstarted,
                None if anywhere => {
                    let is_over = |other: &_| self.may_take_from(other);
                    self.shared
                        .find_unstarted(&self.me, &self.unstarted, is_over)?
                }
                None => return None,
            };
            // What is refused its stack has ended; the next one may be luckier.
            if let Some(place) = self.start(unstarted) {
                return Some(place);
            }
        }
    }

    /// A spare is only asked where no regular carrier can.
    fn may_take_from(&self, other: &Carrier) -> bool {
        self.me.role == Role::Spare || self.patience.is_over(other)
    }

    /// Gives a thread its continuation and this carrier as its home.
    fn start(&self, unstarted: Unstarted) -> Option<Place> {
        self.time_passes();
        let Unstarted {
            record,
            body,
            stack,
        } = unstarted;
        self.me.live.fetch_add(1, Ordering::Relaxed);
        let label = ThreadLabel {
            id: record.id,
            name: record.name.clone(),
        };
        match Continuation::new(stack, label, move || body.run()) {
            Ok(continuation) => {
                self.lifetime(Lifetime::Start, &record);
                Some(self.settle(record, continuation))
            }
            Err(error) => {
                drop(self.shared.refuse_stack(error));
                self.finish(record);
                None
            }
        }
    }

    /// Runs a thread until it leaves, and does what it left for. Nothing here parks, takes a park-aware
    /// lock or calls foreign code.
    #[inline]
    fn mount(&self, place: Place) {
        // Borrowed while it is mounted: only this file touches the table, and nothing else runs here meanwhile.
        let mut tenants = self.tenants.borrow_mut();
        let Some(tenant) = &mut tenants[place as usize] else {
            unreachable!("a ready thread lives on its home carrier")
        };
        let Some(record) = tenant.record.take() else {
            unreachable!("and is not mounted")
        };
        self.me.mounted.store(record.id, Ordering::Relaxed);
        self.me
            .ready
            .store(self.queue.borrow().len(), Ordering::Relaxed);
        self.me.mounts.store(
            self.me.mounts.load(Ordering::Relaxed) + 1,
            Ordering::Relaxed,
        );
        current::mount(record);
        let step = tenant.continuation.resume();
        let Some(record) = current::unmount() else {
            unreachable!("it was mounted above")
        };
        self.me.mounted.store(0, Ordering::Relaxed);
        // The watchdog may have marked a thread that ran for long; it has come to a wait now.
        self.me.set_status(Status::Running);
        self.me.owed.pay();
        match (step, self.request.get()) {
            (Step::Suspended, Request::Yield) => {
                tenant.record = Some(record);
                self.push_ready(place);
            }
            (Step::Suspended, Request::Park(epoch, allow)) => {
                // From its settling on others may wake it, which comes to the inbox at most.
                let record = tenant.record.insert(record);
                match record.word.settle(epoch, Stays::Unmounted, allow) {
                    Ok(()) => record.end_if_asked(epoch, allow),
                    Err(_) => self.push_ready(place),
                }
            }
            (Step::Finished, _) => {
                self.time_passes();
                drop(tenants);
                self.ends.add();
                self.vacate(place);
                self.report_leaks(&record);
                self.lifetime(Lifetime::End, &record);
                self.finish(record);
            }
            (Step::Suspended, Request::Abandon) => {
                // Dropping a suspended continuation leaks its stack; the thread stays counted as live here, and
                // its place stays taken.
                drop(tenants[place as usize].take());
                // What it held stays held, and pins no other.
                self.report_leaks(&record);
                self.shared.refused.lock().push(Arc::clone(&record));
                record.set_abandoned();
                self.shared.tell_of_end();
            }
        }
    }

    fn lifetime(&self, moment: Lifetime, record: &Record) {
        let name = record.name.as_deref();
        let told = record.told.load(Ordering::Relaxed);
        let told = self
            .hub()
            .lifetime(self.me.id, moment, record.id, name, told);
        record.told.store(told, Ordering::Relaxed);
    }

    fn finish(&self, record: Arc<Record>) {
        self.me.live.fetch_sub(1, Ordering::Relaxed);
        self.shared.forget(&record);
        record.set_ended();
        self.shared.tell_of_end();
        park::let_go(record);
        if self.me.role == Role::Dedicated {
            self.me.release();
        }
    }

    fn report_leaks(&self, record: &Record) {
        for pin in pin::take_leaked() {
            self.hub().report(Event::MonitorLeaked {
                thread: ThreadRef {
                    id: record.id,
                    name: record.display_name(),
                },
                lock: pin.subject.map(|subject| subject.to_string().into()),
                pinned_at: pin.at.map(Into::into),
            });
        }
    }

    /// Looks around for a moment, then sleeps. Has it collected readiness?
    fn idle(&self) -> bool {
        if self.shared.is_spare(self.me.id) {
            return self.idle_as_spare();
        }
        let search = self.shared.begin_search();
        self.me.set_status(Status::Idle);
        let found = || {
            let is_over = |other: &_| self.may_take_from(other);
            self.me.has_news() || self.shared.has_unstarted_now(&self.me, is_over)
        };
        let left_to_others = || self.shared.has_unstarted_for(&self.me);
        let rounds = if left_to_others() {
            LOOK_AROUND
        } else {
            self.look_around.get()
        };
        let start = event::now().0;
        for _ in 0..rounds {
            if found() {
                break;
            }
            for _ in 0..16 {
                std::hint::spin_loop();
            }
        }
        if !found() && left_to_others() {
            // Still searching: nobody need be woken for it.
            let has_polled = self.sleep(Some(LOOK_AGAIN), || found() || self.shared.may_end());
            drop(search);
            self.poll_pays.set(!has_polled);
            self.get_up();
            return has_polled;
        }
        drop(search);
        let mut pays = found();
        let mut has_polled = false;
        if !pays {
            self.shared.enter_idle(self.me.id);
            has_polled = self.sleep(None, || left_to_others() || self.shared.may_end());
            self.shared.leave_idle(self.me.id);
            self.get_up();
            // It would have, with a little more patience.
            pays = found() && event::now().0 - start < PATIENCE;
        }
        self.look_around
            .set(if pays { LOOK_AROUND } else { rounds / 2 });
        // The sleep's own call brings what is ready by then: to ask before it is worth a call only to a carrier that has
        // not slept, or whose descriptors become ready faster than it serves them.
        self.poll_pays
            .set(!has_polled || self.queue.borrow().len() > 1);
        self.me.set_status(Status::Running);
        has_polled
    }

    fn get_up(&self) {
        self.shared.watchdog.stir();
        self.me.set_status(Status::Running);
    }

    /// A spare carrier neither searches nor joins the idle set, since what is spawned is not for it unless no
    /// regular carrier is free; whoever sees that wakes it.
    fn idle_as_spare(&self) -> bool {
        self.me.set_status(Status::Idle);
        let has_polled = self.sleep(None, || {
            self.shared.may_end() || self.shared.has_unstarted() && self.shared.may_take(self.me.id)
        });
        self.get_up();
        has_polled
    }
}
