//! The loop of a carrier's OS thread: take, mount, act on how the thread left, look around, sleep.
//!
//! **Invariant (affinity):** a started thread is mounted only by the carrier that started it. Its continuation is
//! in this carrier's own table, is not `Send`, and never leaves it.
//!
//! **Invariant (bounded wait):** a ready thread is mounted after at most the threads that were ready before
//! it, plus one unstarted thread for every [`START_EVERY`] mounts. Inbox, timers and I/O are looked at
//! every [`LOOK_EVERY`] mounts and whenever the run queue is empty.

use std::rc::Rc;
use std::sync::Arc;

use super::local::{Local, Request};
use super::{Status, Unstarted};
use crate::continuation::{Continuation, Step, ThreadLabel};
use crate::current;
use crate::event::{Event, Lifetime, ThreadRef};
use crate::park::{Place, Record};
use crate::pin;
use crate::primitive::Ordering;

/// Mounts between two looks at inbox, timers and I/O.
const LOOK_EVERY: u32 = 61;
/// Mounts between two starts while the run queue is not empty.
const START_EVERY: u32 = 8;
/// Rounds of looking for work before the carrier sleeps: waking a halted core costs about 36 µs on a
/// virtual machine, so a few microseconds of looking are repaid by one wake-up saved.
const LOOK_AROUND: u32 = 40;

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
        local.me.set_status(Status::Gone);
    }

    fn cycle(&self) {
        self.me.set_status(Status::Running);
        let mut tick: u32 = 0;
        loop {
            tick = tick.wrapping_add(1);
            if tick.is_multiple_of(LOOK_EVERY) {
                self.look_outside();
                self.poll();
            }
            if tick.is_multiple_of(START_EVERY) && self.start_one(false) {
                continue;
            }
            let next = self.queue.borrow_mut().pop_front();
            if let Some(record) = next {
                self.mount(record);
                continue;
            }
            self.look_outside();
            if !self.queue.borrow().is_empty() || self.start_one(true) {
                continue;
            }
            self.poll();
            if !self.queue.borrow().is_empty() {
                continue;
            }
            if self.shared.may_end() {
                return;
            }
            self.idle();
        }
    }

    fn look_outside(&self) {
        self.drain_inbox();
        self.fire_timers();
        for unstarted in self.me.take_assigned() {
            self.start(unstarted);
        }
    }

    /// Starts one thread; `anywhere` also looks at the injector and at other carriers.
    fn start_one(&self, anywhere: bool) -> bool {
        let found = self.unstarted.pop().or_else(|| {
            if anywhere {
                self.shared.find_unstarted(&self.me, &self.unstarted)
            } else {
                None
            }
        });
        match found {
            Some(unstarted) => {
                self.start(unstarted);
                true
            }
            None => false,
        }
    }

    fn start(&self, unstarted: Unstarted) {
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
        match Continuation::new(stack, label, body) {
            Ok(continuation) => {
                let stack = continuation.bounds();
                record.settle_on(self.me.id, self.store(continuation), stack);
                self.lifetime(Lifetime::Start, &record);
                self.mount(record);
            }
            Err(error) => {
                drop(self.shared.refuse_stack(error));
                self.finish(&record);
            }
        }
    }

    /// Runs a thread until it leaves, and does what it left for. Nothing here parks, takes a park-aware
    /// lock or calls foreign code.
    fn mount(&self, record: Arc<Record>) {
        let slot = record.slot();
        let Some(mut continuation) = self.take(slot) else {
            unreachable!("a ready thread has a continuation on its home carrier")
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
        let step = continuation.resume();
        let Some(record) = current::unmount() else {
            unreachable!("it was mounted above")
        };
        self.me.mounted.store(0, Ordering::Relaxed);
        // The watchdog may have marked a thread that ran for long; it has come to a wait now.
        self.me.set_status(Status::Running);
        match (step, self.request.get()) {
            (Step::Finished, _) => {
                drop(continuation);
                self.vacate(slot);
                self.report_leaks(&record);
                self.lifetime(Lifetime::End, &record);
                self.finish(&record);
            }
            (Step::Suspended, Request::Yield) => {
                self.put_back(slot, continuation);
                self.push_ready(record);
            }
            (Step::Suspended, Request::Park(epoch)) => {
                self.put_back(slot, continuation);
                if record.word.settle(epoch, Place::Unmounted).is_err() {
                    self.push_ready(record);
                }
            }
            (Step::Suspended, Request::Abandon) => {
                // Dropping a suspended continuation leaks its stack; the thread stays counted as live here.
                drop(continuation);
                self.shared.refused.lock().push(Arc::clone(&record));
                record.set_ended();
            }
        }
    }

    fn lifetime(&self, moment: Lifetime, record: &Record) {
        self.hub()
            .lifetime(self.me.id, moment, record.id, record.name.as_deref());
    }

    fn finish(&self, record: &Arc<Record>) {
        self.me.live.fetch_sub(1, Ordering::Relaxed);
        self.shared.forget(record);
        record.set_ended();
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

    /// Looks around for a moment, then sleeps.
    fn idle(&self) {
        if self.shared.is_spare(self.me.id) {
            self.idle_as_spare();
            return;
        }
        let search = self.shared.begin_search();
        self.me.set_status(Status::Idle);
        for _ in 0..LOOK_AROUND {
            if self.me.inbox_filled.load(Ordering::Relaxed) || self.shared.has_unstarted() {
                break;
            }
            for _ in 0..16 {
                std::hint::spin_loop();
            }
        }
        drop(search);
        if !self.me.inbox_filled.load(Ordering::Relaxed) && !self.shared.has_unstarted() {
            self.shared.enter_idle(self.me.id);
            self.sleep(|| self.shared.has_unstarted() || self.shared.may_end());
            self.shared.leave_idle(self.me.id);
            self.shared.watchdog.stir();
        }
        self.me.set_status(Status::Running);
    }

    /// A spare carrier neither searches nor joins the idle set, since what is spawned is not for it unless no
    /// regular carrier is free; whoever sees that wakes it.
    fn idle_as_spare(&self) {
        self.me.set_status(Status::Idle);
        self.sleep(|| {
            self.shared.may_end() || self.shared.has_unstarted() && self.shared.may_take(self.me.id)
        });
        self.shared.watchdog.stir();
        self.me.set_status(Status::Running);
    }
}
