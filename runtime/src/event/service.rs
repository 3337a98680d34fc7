//! `vt-events`: the one thread that turns records into `tracing` events and so runs foreign code.
//!
//! A subscriber may block (only this thread waits; rings overwrite and count) or panic (caught and
//! counted). Nothing here wakes while nothing is recorded: it sleeps by [`Bell`]'s protocol.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tracing::{Dispatch, dispatcher};

use self::emit::emit;
use super::reader::Follower;
use super::{Event, EventClass, Recorded};
use crate::primitive::Bell;

pub(super) mod emit;

pub(super) mod interest;

pub(super) mod source;

pub(super) mod exit;

/// How long the service looks out for more after it found something, before it sleeps: so a stream of
/// events wakes it once per this time, not once per event.
const LINGER: Duration = Duration::from_millis(2);

thread_local! {
    /// Whether this is a `vt-events` thread. Needs no destructor, so it can be asked at exit.
    static IS_SERVICE: Cell<bool> = const { Cell::new(false) };
}

/// How far flushes have come.
#[derive(Default)]
struct Served {
    /// Flushes done.
    ticket: u64,
    /// The thread has emitted all there will ever be.
    ended: bool,
}

/// How a runtime's events have fared with `tracing` subscribers since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivery {
    /// Events handed to the dispatcher, whether or not anybody listened.
    pub emitted: u64,
    /// Records overwritten before they were emitted, in the order of [`EventClass::ALL`]: the sum of all
    /// `EventsDropped`.
    pub dropped: [u64; EventClass::COUNT],
    /// How often a subscriber panicked; the event it was given is lost.
    pub subscriber_panics: u64,
}

#[derive(Default)]
struct Counters {
    emitted: AtomicU64,
    dropped: [AtomicU64; EventClass::COUNT],
    panics: AtomicU64,
}

/// Waits, at most that long, until everything that has ended is recorded.
pub(super) type Gather = dyn Fn(Duration) + Send + Sync;

/// The service of one runtime.
pub(super) struct Service {
    pump: Mutex<Pump>,
    bell: Bell,
    closing: AtomicBool,
    thread: OnceLock<Thread>,
    /// Flushes asked for, and how many of them are done.
    requested: AtomicU64,
    served: Mutex<Served>,
    done: Condvar,
    counters: Counters,
    /// Makes what is known but not recorded yet a record, before a flush.
    gather: OnceLock<Box<Gather>>,
    /// The process that has the thread: after a fork the child has only the memory of it.
    process: u32,
}

impl Service {
    /// Starts the thread. Should the system refuse it, nothing is lost: records stay in the rings and
    /// [`Service::flush`] emits them on its caller's thread.
    pub(super) fn start(follower: Follower, dispatch: Option<Dispatch>) -> Arc<Self> {
        interest::watch();
        let service = Arc::new(Self {
            pump: Mutex::new(Pump {
                follower,
                dispatch,
                batch: Vec::new(),
            }),
            bell: Bell::new(),
            closing: AtomicBool::new(false),
            thread: OnceLock::new(),
            requested: AtomicU64::new(0),
            served: Mutex::default(),
            done: Condvar::new(),
            counters: Counters::default(),
            gather: OnceLock::new(),
            process: std::process::id(),
        });
        let own = Arc::clone(&service);
        if let Ok(handle) = thread::Builder::new()
            .name("vt-events".into())
            .spawn(move || own.run())
        {
            // Nobody else sets it.
            let _ = service.thread.set(handle.thread().clone());
        }
        service
    }

    /// Tells the service that something was recorded. A fence and a load while it is awake.
    #[inline]
    pub(super) fn nudge(&self) {
        if self.bell.ring() {
            self.press();
        }
    }

    /// Wakes the service even while it lingers: a ring fills.
    #[cold]
    pub(super) fn press(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Before each flush calls `gather`. The first one stays.
    pub(super) fn gather_with(&self, gather: Box<Gather>) {
        let _ = self.gather.set(gather);
    }

    /// Ends the thread once everything recorded is emitted; does not wait for it.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.press();
    }

    /// Whether the thread sleeps until it is woken.
    #[cfg(test)]
    pub(super) fn is_asleep(&self) -> bool {
        self.bell.is_asleep()
    }

    /// How events have fared so far.
    pub(super) fn delivery(&self) -> Delivery {
        let Counters {
            emitted,
            dropped,
            panics,
        } = &self.counters;
        Delivery {
            emitted: emitted.load(Ordering::Relaxed),
            dropped: std::array::from_fn(|class| dropped[class].load(Ordering::Relaxed)),
            subscriber_panics: panics.load(Ordering::Relaxed),
        }
    }

    /// Waits until everything recorded before the call was handed to the dispatcher. False when that
    /// took longer than `limit`, or when it cannot be: from inside a subscriber, or in a forked child.
    pub(super) fn flush(&self, limit: Duration) -> bool {
        if IS_SERVICE.get() || std::process::id() != self.process {
            return false;
        }
        let deadline = Instant::now().checked_add(limit);
        if let Some(gather) = self.gather.get() {
            gather(limit / 2);
        }
        let Some(thread) = self.thread.get() else {
            return self.flush_here(limit);
        };
        let ticket = self.requested.fetch_add(1, Ordering::SeqCst) + 1;
        thread.unpark();
        let mut served = self.served.lock();
        while served.ticket < ticket && !served.ended {
            match deadline {
                Some(deadline) => {
                    if self.done.wait_until(&mut served, deadline).timed_out() {
                        return served.ticket >= ticket || served.ended;
                    }
                }
                None => self.done.wait(&mut served),
            }
        }
        true
    }

    /// The service's work where it has no thread.
    fn flush_here(&self, limit: Duration) -> bool {
        let Some(mut pump) = self.pump.try_lock_for(limit) else {
            return false;
        };
        let was = IS_SERVICE.replace(true);
        // vt-lint: allow(blocking-in-guard-indirect) -- the file is this process's own memory in procfs, which is no disk
        pump.round(&self.counters);
        IS_SERVICE.set(was);
        true
    }

    fn run(&self) {
        IS_SERVICE.set(true);
        let mut pump = self.pump.lock();
        loop {
            let ticket = self.requested.load(Ordering::SeqCst);
            let closing = self.closing.load(Ordering::Acquire);
            // vt-lint: allow(blocking-in-guard-indirect) -- the file is this process's own memory in procfs, which is no disk
            let found = pump.round(&self.counters);
            let ended = closing && !found;
            // vt-lint: allow(nested-lock) -- always in this order, and `served` is held for a few instructions
            let mut served = self.served.lock();
            if served.ticket != ticket || ended {
                *served = Served { ticket, ended };
                self.done.notify_all();
            }
            drop(served);
            if ended {
                return;
            }
            if found {
                if !closing {
                    // vt-lint: allow(blocking-in-guard) -- the guard is this thread's for life: only a flush at exit tries it
                    thread::park_timeout(LINGER);
                }
                continue;
            }
            let may_sleep = self.bell.lie_down(|| {
                pump.follower.has_news(wanted())
                    || self.requested.load(Ordering::SeqCst) != ticket
                    || self.closing.load(Ordering::Acquire)
            });
            if may_sleep {
                // vt-lint: allow(blocking-in-guard) -- the guard is this thread's for life: only a flush at exit tries it
                thread::park();
                self.bell.get_up();
            }
        }
    }
}

/// The classes some subscriber may want now.
fn wanted() -> [bool; EventClass::COUNT] {
    std::array::from_fn(|class| interest::in_class(EventClass::ALL[class]))
}

/// Reads and emits.
struct Pump {
    follower: Follower,
    dispatch: Option<Dispatch>,
    batch: Vec<Recorded>,
}

impl Pump {
    /// Emits everything that was recorded when this began, oldest first, and first of all what was
    /// lost. Returns whether there was anything.
    fn round(&mut self, counters: &Counters) -> bool {
        let before = self.follower.lost;
        self.follower
            .drain(wanted(), |recorded| self.batch.push(recorded));
        // Rings are read one after the other; within one they are in order, which a stable sort keeps.
        self.batch.sort_by_key(|recorded| recorded.at);
        let dropped = EventClass::ALL.iter().filter_map(|&class| {
            let count = self.follower.lost[class as usize] - before[class as usize];
            counters.dropped[class as usize].fetch_add(count, Ordering::Relaxed);
            (count > 0).then_some(Event::EventsDropped { class, count })
        });
        let dropped: Vec<Event> = dropped.collect();
        let found = !dropped.is_empty() || !self.batch.is_empty();
        if found {
            let events = dropped
                .into_iter()
                .chain(self.batch.drain(..).map(|recorded| recorded.event));
            let emit_all = || events.for_each(|event| emit_caught(&event, counters));
            match &self.dispatch {
                Some(dispatch) => dispatcher::with_default(dispatch, emit_all),
                None => emit_all(),
            }
        }
        found
    }
}

/// Emits one event; a subscriber's panic ends with it.
fn emit_caught(event: &Event, counters: &Counters) {
    counters.emitted.fetch_add(1, Ordering::Relaxed);
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| emit(event))) {
        counters.panics.fetch_add(1, Ordering::Relaxed);
        // A payload's destructor may panic as well.
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
    }
}
