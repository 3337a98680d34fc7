//! The door as models know it: the runtime's own wait word, carriers that mount one thread at a time, pins, and
//! revocable wake-ones.
//!
//! What is left out: timers (a model's thread may call [`time_out`]), inboxes (a wake reaches its thread at once,
//! which then waits to be mounted), spans, events.

#[path = "../../runtime/src/park/word.rs"]
#[expect(dead_code, reason = "the models need a part of it")]
mod word;

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::Arc;

use loom::sync::Condvar;
pub(crate) use word::End;
use word::{Allow, Ended, Place, WaitWord};

use crate::event::{Operation, Subject};
use crate::primitive::{AtomicBool, Ordering, fence};

/// As in the runtime.
pub(crate) trait PassOn: Send + Sync {
    fn pass_on(self: Arc<Self>, waiter: u64);
    fn call_next(self: Arc<Self>);
}

/// Mounts one thread at a time.
#[derive(Default)]
pub(crate) struct Carrier {
    is_busy: loom::sync::Mutex<bool>,
    freed: Condvar,
    is_stuck: AtomicBool,
    offers: loom::sync::Mutex<Vec<Offer>>,
    /// The queue whose next waiter it owes a call.
    owed: loom::sync::Mutex<Option<Arc<dyn PassOn>>>,
}

struct Record {
    id: u64,
    home: Option<Arc<Carrier>>,
    word: WaitWord,
    lock: loom::sync::Mutex<()>,
    signal: Condvar,
}

#[derive(Clone)]
pub(crate) struct Waiter {
    record: Arc<Record>,
    epoch: u64,
}

struct Offer {
    waiter: Waiter,
    queue: Arc<dyn PassOn>,
}

pub(crate) struct Wait {
    pub(crate) subject: Option<Subject>,
    pub(crate) owner: u64,
}

#[derive(Default)]
pub(crate) struct Spell;

loom::thread_local! {
    static ME: RefCell<Option<Arc<Record>>> = RefCell::new(None);
    static IS_PINNED: Cell<bool> = Cell::new(false);
}

thread_local! {
    /// Of the OS thread, which runs all threads of its models.
    static NEVER_REVOKE: Cell<bool> = const { Cell::new(false) };
}

/// Breaks the wake rule, to see that the models would notice.
pub(crate) fn never_revoke() {
    NEVER_REVOKE.set(true);
}

fn record() -> Arc<Record> {
    ME.with(|me| me.borrow().clone().expect("a thread of a model"))
}

/// The model's own thread: it makes the objects and uses each once.
pub(crate) fn begin() {
    ME.with(|me| *me.borrow_mut() = Some(Arc::new(Record::new(u64::MAX >> 4, None))));
}

/// A whole thread: mounted at its first instruction, gone after its last.
pub(crate) fn run(id: u64, home: Option<Arc<Carrier>>, body: impl Fn()) {
    let record = Arc::new(Record::new(id, home));
    ME.with(|me| *me.borrow_mut() = Some(Arc::clone(&record)));
    record.mount();
    body();
    record.unmount();
    ME.with(|me| me.borrow_mut().take());
}

/// Runs `body` without unmounting.
pub(crate) fn pinned(body: impl FnOnce()) {
    IS_PINNED.with(|pinned| pinned.set(true));
    body();
    IS_PINNED.with(|pinned| pinned.set(false));
}

impl Record {
    fn new(id: u64, home: Option<Arc<Carrier>>) -> Self {
        Self {
            id,
            home,
            word: WaitWord::new(),
            lock: loom::sync::Mutex::new(()),
            signal: Condvar::new(),
        }
    }

    fn mount(&self) {
        let Some(home) = &self.home else { return };
        let mut busy = home.is_busy.lock().expect("no panic");
        while *busy {
            busy = home.freed.wait(busy).expect("no panic");
        }
        *busy = true;
    }

    fn unmount(&self) {
        let Some(home) = &self.home else { return };
        home.pay();
        *home.is_busy.lock().expect("no panic") = false;
        home.freed.notify_all();
    }

    fn block(&self) {
        let mut guard = self.lock.lock().expect("no panic");
        while self.word.ended().is_none() {
            guard = self.signal.wait(guard).expect("no panic");
        }
    }

    /// Begins a wait. Under the lock, as [`end`](Self::end): loom lets a compare-exchange succeed on a value that the
    /// owner has replaced long since, and so a waker of an earlier wait "end" a later one. The lock orders them.
    fn prepare(&self) -> u64 {
        let _ordered = self.lock.lock().expect("no panic");
        self.word.prepare(Allow::NOTHING)
    }

    fn end(&self, epoch: u64, end: End) -> bool {
        let _ordered = self.lock.lock().expect("no panic");
        match self.word.end(epoch, end) {
            Ended::Missed => false,
            Ended::Noted => true,
            Ended::Schedule | Ended::Signal => {
                self.signal.notify_one();
                true
            }
        }
    }
}

impl Carrier {
    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn pay(&self) {
        let queue = self.owed.lock().expect("no panic").take();
        if let Some(queue) = queue {
            queue.call_next();
        }
    }

    fn add_offer(&self, offer: Offer) {
        self.offers.lock().expect("no panic").push(offer);
        fence(Ordering::SeqCst);
        if self.is_stuck.load(Ordering::Relaxed) {
            self.revoke_offers();
        }
    }

    fn revoke_offers(&self) {
        if NEVER_REVOKE.get() {
            return;
        }
        fence(Ordering::SeqCst);
        let offers = std::mem::take(&mut *self.offers.lock().expect("no panic"));
        for offer in offers {
            if offer.waiter.record.word.is_unaccepted(offer.waiter.epoch) {
                offer.queue.pass_on(offer.waiter.thread());
            }
        }
    }
}

/// The same thing here: threads of a model are few.
pub(crate) type Epoch = Waiter;

impl Waiter {
    pub(crate) fn epoch(&self) -> Epoch {
        self.clone()
    }

    pub(crate) fn offer(self, queue: Arc<dyn PassOn>) -> bool {
        let woke = self.wake();
        if woke && let Some(home) = self.record.home.clone() {
            home.add_offer(Offer {
                waiter: self,
                queue,
            });
        }
        woke
    }

    /// Threads of a model live nowhere for long.
    pub(crate) fn wake_neighbour(&self) -> bool {
        false
    }

    pub(crate) fn wake(&self) -> bool {
        self.record.end(self.epoch, End::Done)
    }

    pub(crate) fn is_stranded(&self) -> bool {
        let stuck = |home: &Arc<Carrier>| home.is_stuck.load(Ordering::Relaxed);
        self.record.word.is_unmounted() && self.record.home.as_ref().is_some_and(stuck)
    }

    pub(crate) fn home(&self) -> usize {
        self.record.home.as_ref().map_or(0, |home| home.key())
    }

    pub(crate) fn is_current(&self) -> bool {
        self.record.word.is_open(self.epoch)
    }

    pub(crate) fn thread(&self) -> u64 {
        self.record.id
    }

    /// The deadline of that wait passes now.
    pub(crate) fn time_out(&self) {
        self.record.end(self.epoch, End::Timeout);
    }
}

/// As in the runtime, where one call in a few is made at once anyway.
pub(crate) fn owe_call<Q: PassOn + 'static>(home: usize, queue: &Arc<Q>) -> bool {
    let owes = |own: &Arc<Carrier>| {
        if own.key() != home || own.is_stuck.load(Ordering::Relaxed) {
            return false;
        }
        let queue: Arc<dyn PassOn> = Arc::<Q>::clone(queue);
        let mut owed = own.owed.lock().expect("no panic");
        let is_it = |other: &Arc<dyn PassOn>| Arc::ptr_eq(other, &queue);
        let takes_on = owed.as_ref().is_none_or(is_it);
        if takes_on {
            *owed = Some(queue);
        }
        takes_on
    };
    record().home.as_ref().is_some_and(owes)
}

/// As in the runtime.
pub(crate) fn waive_call<Q: PassOn + 'static>(queue: &Arc<Q>) {
    let queue: Arc<dyn PassOn> = Arc::<Q>::clone(queue);
    if let Some(home) = &record().home {
        let mut owed = home.owed.lock().expect("no panic");
        if owed.as_ref().is_some_and(|owed| Arc::ptr_eq(owed, &queue)) {
            *owed = None;
        }
    }
}

impl Wait {
    pub(crate) fn new(_: Operation, _: &'static Location<'static>) -> Self {
        Self {
            subject: None,
            owner: 0,
        }
    }
}

pub(crate) fn me() -> u64 {
    record().id
}

pub(crate) fn prepare() -> Waiter {
    let record = record();
    let epoch = record.prepare();
    Waiter { record, epoch }
}

pub(crate) fn wait_in(epoch: impl Into<Epoch>, _: &Wait, _: &mut Spell, _: bool) -> End {
    let waiter: Waiter = epoch.into();
    let record = waiter.record;
    let pinned = IS_PINNED.with(Cell::get);
    match &record.home {
        Some(_) if !pinned => {
            // The carrier settles the wait once it has left the thread's stack, before it mounts another.
            if record
                .word
                .settle(waiter.epoch, Place::Unmounted, Allow::NOTHING)
                .is_ok()
            {
                record.unmount();
                record.block();
                record.mount();
            }
        }
        Some(home) => {
            if record
                .word
                .settle(waiter.epoch, Place::Held, Allow::NOTHING)
                .is_ok()
            {
                home.is_stuck.store(true, Ordering::Relaxed);
                if !NEVER_REVOKE.get() {
                    home.pay();
                }
                home.revoke_offers();
                record.block();
                home.is_stuck.store(false, Ordering::Relaxed);
            }
        }
        None => {
            if record
                .word
                .settle(waiter.epoch, Place::Held, Allow::NOTHING)
                .is_ok()
            {
                record.block();
            }
        }
    }
    let end = record.word.ended().expect("it has ended");
    record.word.close();
    end
}

pub(crate) fn raise_cancel() -> ! {
    unreachable!("models are not shut down")
}

pub(crate) fn raise_deadlock() -> ! {
    unreachable!("models have no watchdog")
}
