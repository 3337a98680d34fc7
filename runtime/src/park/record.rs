//! The record of one thread: identity, wait word, permit, interrupt flag and what it waits for.
//!
//! Virtual threads and plain OS threads have the same record, so that every lock and channel works the
//! same on both. A record outlives its thread for as long as somebody may still wake it.
//!
//! A million threads have a million of these, so what is rare lies elsewhere, and addresses and places are
//! as narrow as they can be.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::announced::Announced;
use super::life::Life;
use super::recycle;
use super::word::{Allow, End, Ended, WaitWord};
use crate::carrier::Local;
use crate::event::{Operation, Subject};
use crate::primitive::{AtomicBool, AtomicUsize, Ordering};
use crate::runtime::{NOWHERE, Shared};

/// Set in the ids of OS threads, so that they never meet those of virtual threads.
const OS_THREAD: u64 = 1 << 63;
/// `home` before the first mount.
const NO_HOME: u32 = u32::MAX;
/// Lengths of stacks are kept in this unit, of which every stack is a multiple.
const STACK_UNIT: usize = 4096;

/// The stories of deadlocks that ended a wait, until their threads take them.
static DEADLOCKS: Mutex<Vec<(u64, Arc<str>)>> = Mutex::new(Vec::new());

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
    /// The frame pointer of the frame that waits (in a build without, its stack pointer), which stays as it is until the wait has ended, and an address of its
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
    home: AtomicU32,
    /// Its place in the home carrier's table of continuations.
    place: AtomicU32,
    /// Where the frames of its stack may be, from its first mount: the lowest address, and how many units.
    stack_low: AtomicUsize,
    stack_length: AtomicU32,
    /// Its number in the runtime's registry.
    pub(crate) registered: AtomicU32,
}

/// Blocks and releases one plain OS thread.
#[derive(Default)]
pub(crate) struct Parker {
    lock: Mutex<()>,
    signal: Condvar,
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
    waiting: Announced,
    /// It waits without unmounting: its carrier knows since when.
    pub(crate) pinned: AtomicBool,
    /// Its start was recorded.
    pub(crate) told: AtomicBool,
    /// Set under the lock of `life`, so that who joins need not take it to look.
    ended: AtomicBool,
    /// Set before `ended`: the thread does not run on, but its frames are there for ever.
    abandoned: AtomicBool,
    life: Mutex<Life>,
}

impl Virtual {
    /// Where the frames of its stack may be; `None` before the first mount.
    pub(crate) fn stack(&self) -> Option<Range<usize>> {
        let low = self.stack_low.load(Ordering::Acquire);
        let length = self.stack_length.load(Ordering::Relaxed) as usize * STACK_UNIT;
        (low != 0).then_some(low..low + length)
    }
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
            home: AtomicU32::new(NO_HOME),
            place: AtomicU32::new(0),
            stack_low: AtomicUsize::new(0),
            stack_length: AtomicU32::new(0),
            registered: AtomicU32::new(NOWHERE),
        };
        recycle::make(Self::new(id, name, parent, Kind::Virtual(virtual_part)))
    }

    /// Nobody: what is kept to be used again.
    pub(super) fn nobody() -> Self {
        Self::new(0, None, 0, Kind::Os(Parker::default()))
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
            waiting: Announced::new(),
            pinned: AtomicBool::new(false),
            told: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
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
        (home != NO_HOME).then_some(home as usize)
    }

    /// Carrier: the first mount.
    pub(crate) fn settle_on(&self, carrier: usize, place: u32, stack: Range<usize>) {
        let narrow = |number: usize| u32::try_from(number).expect("fewer threads, and smaller");
        if let Kind::Virtual(part) = &self.kind {
            let length = narrow(stack.len() / STACK_UNIT);
            part.stack_length.store(length, Ordering::Relaxed);
            part.stack_low.store(stack.start, Ordering::Release);
            part.place.store(place, Ordering::Relaxed);
            part.home.store(narrow(carrier), Ordering::Release);
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

    /// [`end`](Self::end) by the carrier that the virtual thread lives on. If the thread has kept that carrier, pinned, it
    /// is the thread's own wait that collects this end, and looks at the word next.
    #[inline]
    pub(crate) fn end_at_home(&self, epoch: u64, end: End, home: &Local) {
        debug_assert_eq!(self.home(), Some(home.id()));
        match self.word.end(epoch, end) {
            Ended::Schedule => home.push_ready(self.place()),
            Ended::Missed | Ended::Noted | Ended::Signal => {}
        }
    }

    /// Owner or its carrier: ends the wait at once if a permit, an interrupt or a cancel is there already.
    #[inline]
    pub(crate) fn end_if_asked(self: &Arc<Self>, epoch: u64, allow: Allow) {
        let asked = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
        if asked(&self.permit) || asked(&self.interrupted) || asked(&self.cancel) {
            self.end_as_asked(epoch, allow);
        }
    }

    #[cold]
    fn end_as_asked(self: &Arc<Self>, epoch: u64, allow: Allow) {
        if allow.unpark() && self.take_permit() {
            self.end(epoch, End::Done);
        } else if allow.interrupt() && self.is_interrupted() {
            self.end(epoch, End::Interrupted);
        } else if allow.cancel() && self.is_cancelled() {
            self.end(epoch, End::Cancelled);
        }
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
        // Mostly it is parked: the end of that wait is the permit.
        if self.act(self.word.end_park()) {
            return;
        }
        self.permit.store(true, Ordering::SeqCst);
        // `park` settles before it looks for the permit, so either it sees the permit or this sees the wait.
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

    /// Owner: announces what the thread waits for. Not taken back at the end: readers look at the word first.
    #[inline]
    pub(crate) fn announce(&self, waiting: &Waiting) {
        self.waiting.set(waiting);
    }

    /// Ends the wait `epoch`, which is part of a deadlock that `story` tells.
    pub(crate) fn end_deadlocked(self: &Arc<Self>, epoch: u64, story: &Arc<str>) {
        DEADLOCKS.lock().push((self.id, Arc::clone(story)));
        if !self.end(epoch, End::Deadlock) {
            drop(self.take_deadlock());
        }
    }

    /// Owner: the story of the deadlock that ended its wait.
    pub(crate) fn take_deadlock(&self) -> Arc<str> {
        let mut stories = DEADLOCKS.lock();
        let own = stories.iter().rposition(|(thread, _)| *thread == self.id);
        own.map_or_else(Arc::default, |own| stories.swap_remove(own).1)
    }

    /// Makes the thread look again at what it waits for, which it does in a loop. Harmless: an extra hint.
    pub(crate) fn nudge(self: &Arc<Self>, epoch: u64) {
        self.end(epoch, End::Done);
    }

    /// What the thread waits for now.
    pub(crate) fn waiting(&self) -> Option<Waiting> {
        let waiting = self.waiting.get();
        waiting.filter(|waiting| self.word.is_waiting_in(waiting.epoch))
    }

    /// How far it has come, and what it leaves.
    pub(crate) fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Has it ended, and does nothing borrow through it any more? Not so for one that was abandoned: who runs on the
    /// memory that it has lent on was not told to end, and nobody knows of all of them (std's scoped threads).
    pub(crate) fn has_left(&self) -> bool {
        self.has_ended() && !self.abandoned.load(Ordering::Relaxed)
    }

    /// Marks the end of a thread that stays where it is, and wakes all who join; those who lend to it wait on.
    pub(crate) fn set_abandoned(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.set_ended();
    }

    /// Marks the end and wakes all who join.
    pub(crate) fn set_ended(&self) {
        let watchers = {
            let mut life = self.life.lock();
            self.ended.store(true, Ordering::Release);
            life.end()
        };
        watchers.wake();
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
