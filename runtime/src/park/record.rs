//! The record of one thread: identity, wait word, permit, interrupt flag and what it waits for.
//!
//! Virtual threads and plain OS threads have the same record, so that every lock and channel works the
//! same on both. A record outlives its thread for as long as somebody may still wake it.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

use parking_lot::{Condvar, Mutex};

use super::Waiter;
use super::word::{End, Ended, WaitWord};
use crate::event::{Operation, Subject};
use crate::primitive::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use crate::runtime::Shared;

/// Set in the ids of OS threads, so that they never meet those of virtual threads.
const OS_THREAD: u64 = 1 << 63;
/// `home` before the first mount.
const NO_HOME: usize = usize::MAX;

static NEXT_VIRTUAL: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
static NEXT_OS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);

/// What a thread waits for, for dumps and the deadlock graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) operation: Operation,
    pub(crate) at: &'static Location<'static>,
    pub(crate) subject: Option<Subject>,
    pub(crate) owner: u64,
    pub(crate) timed: bool,
    /// Memory is lent to others meanwhile: never cancelled.
    pub(crate) lends: bool,
    /// The wait it belongs to: what stands here is old news once that wait has ended.
    pub(crate) epoch: u64,
    /// [`crate::event::now`] at the beginning of the wait.
    pub(crate) since: u64,
    /// The frame pointer of the frame that waits, which stays as it is until the wait has ended, and an address of its
    /// code; 0 if unknown.
    pub(crate) frame: (usize, usize),
}

/// What is specific to the kind of thread.
pub(crate) enum Kind {
    Virtual(Virtual),
    Os(Parker),
}

/// The part of a record that only virtual threads have.
pub(crate) struct Virtual {
    pub(crate) runtime: Arc<Shared>,
    /// Index of the carrier it lives on, once mounted.
    home: AtomicUsize,
    /// Its place in the home carrier's table of continuations.
    place: AtomicU32,
    /// Where the frames of its stack may be, from its first mount.
    pub(crate) stack: OnceLock<std::ops::Range<usize>>,
    /// Its place in the runtime's registry.
    pub(crate) registered: OnceLock<(usize, usize)>,
}

/// Blocks and releases one plain OS thread.
#[derive(Default)]
pub(crate) struct Parker {
    lock: Mutex<()>,
    signal: Condvar,
}

/// How far a thread has come.
#[derive(Default)]
struct Life {
    ended: bool,
    joiners: Vec<Waiter>,
}

/// One thread. See the module's documentation.
pub(crate) struct Record {
    pub(crate) id: u64,
    pub(crate) name: Option<Arc<str>>,
    /// The thread that spawned it, 0 if unknown.
    pub(crate) parent: u64,
    pub(crate) kind: Kind,
    pub(crate) word: WaitWord,
    permit: AtomicBool,
    interrupted: AtomicBool,
    cancel: AtomicBool,
    cancel_raised: AtomicBool,
    started: AtomicBool,
    waiting: Mutex<Option<Waiting>>,
    /// Since when it waits without unmounting ([`crate::event::now`]), 0 if it does not.
    pub(crate) pinned_since: AtomicU64,
    /// Why the wait ended with a deadlock.
    deadlock: Mutex<Option<Arc<str>>>,
    life: Mutex<Life>,
}

impl Record {
    /// A virtual thread that has not started.
    pub(crate) fn new_virtual(
        runtime: Arc<Shared>,
        name: Option<Arc<str>>,
        parent: u64,
    ) -> Arc<Self> {
        let id = NEXT_VIRTUAL.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let virtual_part = Virtual {
            runtime,
            home: AtomicUsize::new(NO_HOME),
            place: AtomicU32::new(0),
            stack: OnceLock::new(),
            registered: OnceLock::new(),
        };
        Arc::new(Self::new(id, name, parent, Kind::Virtual(virtual_part)))
    }

    /// The calling OS thread.
    pub(crate) fn new_os() -> Arc<Self> {
        let id = os_thread_id();
        let name = std::thread::current().name().map(Arc::from);
        Arc::new(Self::new(id, name, 0, Kind::Os(Parker::default())))
    }

    fn new(id: u64, name: Option<Arc<str>>, parent: u64, kind: Kind) -> Self {
        Self {
            id,
            name,
            parent,
            kind,
            word: WaitWord::new(),
            permit: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            cancel: AtomicBool::new(false),
            cancel_raised: AtomicBool::new(false),
            started: AtomicBool::new(false),
            waiting: Mutex::new(None),
            pinned_since: AtomicU64::new(0),
            deadlock: Mutex::default(),
            life: Mutex::default(),
        }
    }

    /// The name the user gave, else `vt-<n>` counted from 0, else what the OS thread is called.
    pub(crate) fn display_name(&self) -> Arc<str> {
        match (&self.name, &self.kind) {
            (Some(name), _) => Arc::clone(name),
            (None, Kind::Virtual(_)) => format!("vt-{}", self.id - 1).into(),
            (None, Kind::Os(_)) => "unnamed".into(),
        }
    }

    pub(crate) fn as_virtual(&self) -> Option<&Virtual> {
        match &self.kind {
            Kind::Virtual(part) => Some(part),
            Kind::Os(_) => None,
        }
    }

    /// The carrier it lives on; `None` before its first mount and for OS threads.
    pub(crate) fn home(&self) -> Option<usize> {
        let home = self.as_virtual()?.home.load(Ordering::Relaxed);
        (home != NO_HOME).then_some(home)
    }

    /// Carrier: the first mount.
    pub(crate) fn settle_on(&self, carrier: usize, place: u32, stack: std::ops::Range<usize>) {
        if let Kind::Virtual(part) = &self.kind {
            // A thread has one first mount.
            let _ = part.stack.set(stack);
            part.place.store(place, Ordering::Relaxed);
            part.home.store(carrier, Ordering::Release);
        }
        self.started.store(true, Ordering::Relaxed);
    }

    /// Its place in the home carrier's table.
    pub(crate) fn place(&self) -> u32 {
        self.as_virtual()
            .map_or(0, |part| part.place.load(Ordering::Relaxed))
    }

    pub(crate) fn has_started(&self) -> bool {
        self.started.load(Ordering::Relaxed)
    }

    /// Ends the wait `epoch` and makes the thread go on. True for the one call that ended it.
    pub(crate) fn end(self: &Arc<Self>, epoch: u64, end: End) -> bool {
        self.act(self.word.end(epoch, end))
    }

    /// Ends whatever wait is under way, if it allows that end.
    pub(crate) fn end_any(self: &Arc<Self>, end: End) -> bool {
        self.act(self.word.end_any(end))
    }

    fn act(self: &Arc<Self>, ended: Ended) -> bool {
        match (ended, &self.kind) {
            (Ended::Missed, _) => return false,
            (Ended::Noted, _) => {}
            (Ended::Schedule, Kind::Virtual(part)) => part.runtime.schedule(self),
            (Ended::Signal, Kind::Virtual(part)) => part.runtime.signal(self),
            (Ended::Schedule | Ended::Signal, Kind::Os(parker)) => parker.signal(),
        }
        true
    }

    /// Is it unmounted while its home carrier is pinned or blocked, so that a wake would not run soon?
    pub(crate) fn is_stranded(&self) -> bool {
        let Some(part) = self.as_virtual() else {
            return false;
        };
        self.word.is_unmounted()
            && self
                .home()
                .is_some_and(|home| part.runtime.carrier(home).is_stuck())
    }

    /// Takes the park permit, if there is one.
    pub(crate) fn take_permit(&self) -> bool {
        self.permit.load(Ordering::SeqCst) && self.permit.swap(false, Ordering::SeqCst)
    }

    /// `unpark`: gives the permit, and ends a `park` that is under way.
    pub(crate) fn unpark(self: &Arc<Self>) {
        self.permit.store(true, Ordering::SeqCst);
        // `park` begins its wait before it looks for the permit, so either it sees the permit or this sees
        // the wait.
        self.act(self.word.end_park());
    }

    /// Sets the interrupt flag and ends a wait that allows it.
    pub(crate) fn interrupt(self: &Arc<Self>) {
        self.interrupted.store(true, Ordering::SeqCst);
        self.end_any(End::Interrupted);
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    pub(crate) fn clear_interrupt(&self) -> bool {
        self.interrupted.swap(false, Ordering::SeqCst)
    }

    /// Owner: sets the flag that a wait has cleared, for operations that keep it.
    pub(crate) fn restore_interrupt(&self) {
        self.interrupted.store(true, Ordering::SeqCst);
    }

    /// Shutdown: asks the thread to unwind at its next cancellable wait.
    pub(crate) fn cancel(self: &Arc<Self>) {
        self.cancel.store(true, Ordering::SeqCst);
        self.end_any(End::Cancelled);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::SeqCst)
    }

    /// True once: the thread unwinds now.
    pub(crate) fn raise_cancel_once(&self) -> bool {
        !self.cancel_raised.swap(true, Ordering::SeqCst)
    }

    /// Has shutdown raised its unwinding here?
    pub(crate) fn was_cancelled(&self) -> bool {
        self.cancel_raised.load(Ordering::SeqCst)
    }

    /// Announces what the thread waits for. Not taken back at the end: readers look at the word first.
    pub(crate) fn announce(&self, waiting: Waiting) {
        *self.waiting.lock() = Some(waiting);
    }

    /// Ends the wait `epoch`, which is part of a deadlock that `story` tells.
    pub(crate) fn end_deadlocked(self: &Arc<Self>, epoch: u64, story: &Arc<str>) {
        *self.deadlock.lock() = Some(Arc::clone(story));
        self.end(epoch, End::Deadlock);
    }

    /// Owner: the story of the deadlock that ended its wait.
    pub(crate) fn take_deadlock(&self) -> Arc<str> {
        self.deadlock.lock().take().unwrap_or_default()
    }

    /// Makes the thread look again at what it waits for, which it does in a loop. Harmless: an extra hint.
    pub(crate) fn nudge(self: &Arc<Self>, epoch: u64) {
        self.end(epoch, End::Done);
    }

    /// What the thread waits for now.
    pub(crate) fn waiting(&self) -> Option<Waiting> {
        let waiting = *self.waiting.lock();
        waiting.filter(|waiting| self.word.is_waiting_in(waiting.epoch))
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.life.lock().ended
    }

    /// Marks the end and wakes all who join.
    pub(crate) fn set_ended(&self) {
        let joiners = {
            let mut life = self.life.lock();
            life.ended = true;
            std::mem::take(&mut life.joiners)
        };
        for joiner in joiners {
            joiner.wake();
        }
    }

    /// Registers who waits for the end; false if it has come already.
    pub(crate) fn add_joiner(&self, joiner: &Waiter) -> bool {
        let mut life = self.life.lock();
        if life.ended {
            return false;
        }
        life.joiners.retain(Waiter::is_current);
        life.joiners.push(joiner.clone());
        true
    }
}

impl Parker {
    fn signal(&self) {
        // Taking the lock orders this after the waiter's check of its word under the same lock.
        drop(self.lock.lock());
        self.signal.notify_one();
    }

    /// Blocks the calling OS thread until `done` says so or the deadline passes.
    pub(crate) fn block(&self, deadline: Option<std::time::Instant>, done: impl Fn() -> bool) {
        let mut guard = self.lock.lock();
        while !done() {
            match deadline {
                None => self.signal.wait(&mut guard),
                Some(deadline) => {
                    if self.signal.wait_until(&mut guard, deadline).timed_out() {
                        return;
                    }
                }
            }
        }
    }
}

thread_local! {
    /// Id of this OS thread, 0 before it is asked for. Without a destructor, so it is there to the end.
    static OS_ID: Cell<u64> = const { Cell::new(0) };
    /// The record of this OS thread, made at its first wait.
    static OS_RECORD: RefCell<Option<Arc<Record>>> = const { RefCell::new(None) };
}

/// The id of the calling OS thread.
#[inline(never)]
pub(super) fn os_thread_id() -> u64 {
    if OS_ID.get() == 0 {
        OS_ID.set(OS_THREAD | NEXT_OS.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    }
    OS_ID.get()
}

/// The record of the calling OS thread. One that is being torn down gets a fresh record for each wait.
pub(crate) fn of_os_thread() -> Arc<Record> {
    OS_RECORD
        .try_with(|cell| Arc::clone(cell.borrow_mut().get_or_insert_with(Record::new_os)))
        .unwrap_or_else(|_| Record::new_os())
}
