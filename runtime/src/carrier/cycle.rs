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
use crate::continuation::{Continuation, Step, ThreadLabel, prefetch_value};
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

/// So many ready threads stay in the cache by themselves.
const FEW: usize = 16;
/// How many mounts ahead the cache is asked for a thread's record, continuation and frames.
const RECORD_AHEAD: usize = 9;
const CONTINUATION_AHEAD: usize = 6;
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
            let Some(record) = self.next(tick) else {
                if self.shared.may_end() {
                    return;
                }
                self.idle();
                continue;
            };
            // The only call, and inlined: a return after a switch of stacks is always predicted wrongly.
            self.mount(record);
        }
    }

    /// The thread to mount now; looks everywhere before it says that there is none.
    fn next(&self, tick: u32) -> Option<Arc<Record>> {
        if tick.is_multiple_of(START_EVERY)
            && let Some(record) = self.start_one(false)
        {
            return Some(record);
        }
        if let Some(record) = self.pop_ready() {
            return Some(record);
        }
        self.look_outside();
        if let Some(record) = self.pop_ready().or_else(|| self.start_one(true)) {
            return Some(record);
        }
        self.poll();
        self.pop_ready()
    }

    fn pop_ready(&self) -> Option<Arc<Record>> {
        let record = self.queue.borrow_mut().pop_front()?;
        self.prefetch();
        Some(record)
    }

    /// Asks the cache for what the coming mounts will touch: record, then continuation, then frames, since each
    /// names the next.
    #[inline]
    fn prefetch(&self) {
        let queue = self.queue.borrow();
        if queue.len() <= FEW {
            return;
        }
        let continuations = self.continuations.borrow();
        let continuation = |place: usize| {
            let record = queue.get(place)?;
            continuations.get(record.slot())?.as_ref()
        };
        if let Some(record) = queue.get(RECORD_AHEAD) {
            prefetch_value(&**record);
        }
        if let Some(continuation) = continuation(CONTINUATION_AHEAD) {
            continuation.prefetch();
        }
        if let Some(continuation) = continuation(FRAMES_AHEAD) {
            continuation.prefetch_frames();
        }
    }

    fn look_outside(&self) {
        self.drain_inbox();
        self.fire_timers();
        for unstarted in self.me.take_assigned() {
            if let Some(record) = self.start(unstarted) {
                self.push_ready(record);
            }
        }
    }

    /// Starts one thread; `anywhere` also looks at the injector and at other carriers.
    fn start_one(&self, anywhere: bool) -> Option<Arc<Record>> {
        loop {
            let unstarted = match self.unstarted.pop() {
                Some(unstarted) => unstarted,
                None if anywhere => self.shared.find_unstarted(&self.me, &self.unstarted)?,
                None => return None,
            };
            // What is refused its stack has ended; the next one may be luckier.
            if let Some(record) = self.start(unstarted) {
                return Some(record);
            }
        }
    }

    /// Gives a thread its continuation and this carrier as its home.
    fn start(&self, unstarted: Unstarted) -> Option<Arc<Record>> {
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
                Some(record)
            }
            Err(error) => {
                drop(self.shared.refuse_stack(error));
                self.finish(&record);
                None
            }
        }
    }

    /// Runs a thread until it leaves, and does what it left for. Nothing here parks, takes a park-aware
    /// lock or calls foreign code.
    #[inline]
    fn mount(&self, record: Arc<Record>) {
        let slot = record.slot();
        self.me.mounted.store(record.id, Ordering::Relaxed);
        self.me
            .ready
            .store(self.queue.borrow().len(), Ordering::Relaxed);
        self.me.mounts.store(
            self.me.mounts.load(Ordering::Relaxed) + 1,
            Ordering::Relaxed,
        );
        current::mount(record);
        // Borrowed while it is mounted: only this function and `start` touch the table.
        let step = match &mut self.continuations.borrow_mut()[slot] {
            Some(continuation) => continuation.resume(),
            None => unreachable!("a ready thread has a continuation on its home carrier"),
        };
        let Some(record) = current::unmount() else {
            unreachable!("it was mounted above")
        };
        self.me.mounted.store(0, Ordering::Relaxed);
        // The watchdog may have marked a thread that ran for long; it has come to a wait now.
        self.me.set_status(Status::Running);
        match (step, self.request.get()) {
            (Step::Finished, _) => {
                self.vacate(slot);
                self.report_leaks(&record);
                self.lifetime(Lifetime::End, &record);
                self.finish(&record);
            }
            (Step::Suspended, Request::Yield) => self.push_ready(record),
            (Step::Suspended, Request::Park(epoch)) => {
                if record.word.settle(epoch, Place::Unmounted).is_err() {
                    self.push_ready(record);
                }
            }
            (Step::Suspended, Request::Abandon) => {
                // Dropping a suspended continuation leaks its stack; the thread stays counted as live here.
                drop(self.continuations.borrow_mut()[slot].take());
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
