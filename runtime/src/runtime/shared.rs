//! What the carriers of one runtime share: placement of unstarted threads, the idle set, wakes from outside.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use crossbeam_deque::{Injector, Steal, Worker};
use parking_lot::Mutex;

use super::compensation::{Regions, is_free};
use super::idle::{IdleSet, Search};
use super::metrics::Counters;
use super::registry::Registry;
use super::settings::Settings;
use super::{Owner, SpawnError};
use crate::carrier::{Carrier, Local, Role, Status, Unstarted};
use crate::continuation::{StackError, StackPool};
use crate::current;
use crate::event::{Event, Hub};
use crate::os::Pool;
use crate::park::{Record, Waiter};
use crate::primitive::{AtomicBool, AtomicUsize, Body, Ordering};
use crate::watchdog::Watchdog;

/// A carrier starts what is spawned on it while it has at most this many more live threads than the emptiest
/// other one; else a slow ramp of connections would live on the acceptor's carrier for ever.
const SLACK: usize = 16;

/// How a thread is to be spawned.
#[derive(Default)]
pub(crate) struct Spec {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) stack_size: Option<usize>,
    pub(crate) carrier: Option<usize>,
    /// On an OS thread of its own.
    pub(crate) dedicated: bool,
}

/// See the module's documentation.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) hub: Arc<Hub>,
    pub(crate) stacks: Arc<StackPool>,
    pub(crate) injector: Injector<Unstarted>,
    /// One place for each carrier that may ever exist; filled from the front.
    carriers: Box<[OnceLock<Arc<Carrier>>]>,
    started: AtomicUsize,
    /// Held while a carrier is started: one at a time.
    starting: Mutex<()>,
    idle: IdleSet,
    stopping: AtomicBool,
    owner: Mutex<Weak<Owner>>,
    /// Shutdowns that wait for threads to end.
    pub(super) watching_ends: Mutex<Vec<Waiter>>,
    registry: Registry,
    pub(super) regions: Regions,
    pub(crate) offload: Arc<Pool>,
    /// The default subscriber of the threads that the runtime starts.
    dispatch: Option<tracing::Dispatch>,
    /// Threads that swallowed their cancellation.
    pub(crate) refused: Mutex<Vec<Arc<Record>>>,
    pub(crate) counters: Counters,
    pub(crate) watchdog: Arc<Watchdog>,
}

/// Why there is no further carrier.
pub(crate) enum NoCarrier {
    /// There are as many as may be.
    Cap,
    /// The operating system refused its OS thread or its descriptors.
    Os(std::io::Error),
}

impl Shared {
    pub(crate) fn new(
        settings: Settings,
        hub: Arc<Hub>,
        dispatch: Option<tracing::Dispatch>,
    ) -> Self {
        Self {
            stacks: Arc::new(StackPool::new(settings.stacks, settings.max_threads)),
            hub,
            injector: Injector::new(),
            carriers: (0..settings.max_carriers)
                .map(|_| OnceLock::new())
                .collect(),
            started: AtomicUsize::new(0),
            starting: Mutex::default(),
            idle: IdleSet::new(),
            stopping: AtomicBool::new(false),
            owner: Mutex::default(),
            watching_ends: Mutex::default(),
            registry: Registry::new(),
            regions: Regions::default(),
            offload: Pool::new(settings.offload_threads, dispatch.clone()),
            dispatch,
            refused: Mutex::default(),
            counters: Counters::default(),
            watchdog: Arc::default(),
            settings,
        }
    }

    pub(super) fn set_owner(&self, owner: &Arc<Owner>) {
        *self.owner.lock() = Arc::downgrade(owner);
    }

    /// What keeps the runtime going, unless the last handle is gone.
    pub(super) fn owner(&self) -> Option<Arc<Owner>> {
        self.owner.lock().upgrade()
    }

    /// Starts the next carrier's OS thread.
    pub(crate) fn start_carrier(self: &Arc<Self>, role: Role) -> Result<usize, NoCarrier> {
        let _one = self.starting.lock();
        let id = self.started.load(Ordering::Relaxed);
        if id >= self.carriers.len() {
            return Err(NoCarrier::Cap);
        }
        self.start_carrier_as(id, role).map_err(NoCarrier::Os)?;
        Ok(id)
    }

    fn start_carrier_as(self: &Arc<Self>, id: usize, role: Role) -> std::io::Result<()> {
        let worker = Worker::new_fifo();
        let carrier = Arc::new(Carrier::new(id, role, worker.stealer())?);
        let (shared, face) = (Arc::clone(self), Arc::clone(&carrier));
        let dispatch = self.dispatch.clone();
        let name = format!("{}-{id}", self.settings.thread_name);
        // The carrier starts its loop when others can find it: its own first thread may ask for it by number.
        let (found, findable) = std::sync::mpsc::channel();
        std::thread::Builder::new().name(name).spawn(move || {
            let Ok(()) = findable.recv() else { return };
            let _default = dispatch.as_ref().map(tracing::dispatcher::set_default);
            face.tid.store(
                rustix::thread::gettid()
                    .as_raw_nonzero()
                    .get()
                    .cast_unsigned(),
                std::sync::atomic::Ordering::Relaxed,
            );
            shared.hub.open(face.id);
            Local::new(shared, face, worker).run();
        })?;
        // Under the lock above, one at a time.
        let _ = self.carriers[id].set(carrier);
        self.started.fetch_add(1, Ordering::Release);
        // It waits for nothing else.
        let _ = found.send(());
        Ok(())
    }

    /// The carrier with that number, which a mounted thread or an index below `carrier_count` proves started.
    pub(crate) fn carrier(&self, id: usize) -> &Arc<Carrier> {
        let carrier = self.carriers[id].get();
        carrier.expect("threads and indices name carriers that were started")
    }

    pub(crate) fn carriers(&self) -> impl Iterator<Item = &Arc<Carrier>> {
        self.carriers.iter().map_while(OnceLock::get)
    }

    /// Admits and places a thread.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        spec: Spec,
        body: Body,
    ) -> Result<Arc<Record>, SpawnError> {
        let carriers = self.started.load(Ordering::Acquire);
        if let Some(carrier) = spec.carrier.filter(|&carrier| carrier >= carriers) {
            return Err(self.report_refused(SpawnError::NoSuchCarrier { carrier, carriers }));
        }
        let size = spec.stack_size.unwrap_or(self.settings.stack_size);
        let stack = self
            .stacks
            .reserve(size)
            .map_err(|error| self.refuse_stack(error))?;
        // After the reservation: carriers end only once none is left, so what is placed below will run.
        if self.is_stopping() {
            return Err(self.report_refused(SpawnError::ShutDown));
        }
        let carrier = if spec.dedicated {
            Some(self.dedicate()?)
        } else {
            spec.carrier
        };
        let record = Record::new_virtual(Arc::clone(self), spec.name, current::id());
        self.registry.insert(&record);
        self.counters.count_spawn();
        self.place(
            Unstarted {
                record: Arc::clone(&record),
                body,
                stack,
            },
            carrier,
        );
        Ok(record)
    }

    /// A carrier that runs nobody else.
    fn dedicate(self: &Arc<Self>) -> Result<usize, SpawnError> {
        if let Some(vacant) = self.carriers().find(|carrier| carrier.dedicate()) {
            return Ok(vacant.id);
        }
        self.start_carrier(Role::Dedicated).map_err(|refused| {
            self.report_refused(SpawnError::NoCarrier {
                live: self.carriers().count(),
                max: self.settings.max_carriers,
                error: match refused {
                    NoCarrier::Cap => None,
                    NoCarrier::Os(error) => Some(error),
                },
            })
        })
    }

    fn place(self: &Arc<Self>, unstarted: Unstarted, carrier: Option<usize>) {
        if let Some(carrier) = carrier {
            self.carrier(carrier).assign(unstarted);
            return;
        }
        let may_start_here =
            |carrier: &Carrier| carrier.role != Role::Dedicated && !self.is_overloaded(carrier);
        match current::carrier_in(self).filter(|local| may_start_here(local.face())) {
            Some(local) => local.push_unstarted(unstarted),
            None => self.injector.push(unstarted),
        }
        self.notify_work();
        self.compensate();
    }

    /// Does another carrier that could take work have far fewer threads?
    fn is_overloaded(&self, carrier: &Carrier) -> bool {
        let live = carrier.live.load(Ordering::Relaxed);
        live > SLACK
            && self.carriers().any(|other| {
                other.id != carrier.id
                    && !self.is_spare(other.id)
                    && matches!(other.status(), Status::Idle | Status::Running)
                    && other.live.load(Ordering::Relaxed) + SLACK < live
            })
    }

    /// Is there something unstarted that an emptier carrier, which has nothing to do, should start? That one is woken.
    fn leaves_to_another(&self, carrier: &Carrier) -> bool {
        let live = carrier.live.load(Ordering::Relaxed);
        if live <= SLACK || !self.has_unstarted() {
            return false;
        }
        let emptier = self.carriers().take(self.settings.carriers).find(|other| {
            other.id != carrier.id
                && other.status() == Status::Idle
                && other.live.load(Ordering::Relaxed) + SLACK < live
        });
        emptier.inspect(|other| other.wake_up()).is_some()
    }

    /// Is there something unstarted that this carrier should start?
    pub(crate) fn has_unstarted_for(&self, carrier: &Carrier) -> bool {
        self.has_unstarted() && !self.leaves_to_another(carrier)
    }

    /// Wakes one sleeping carrier, unless one is looking for work already.
    fn notify_work(&self) {
        let live = |id: usize| self.carrier(id).live.load(Ordering::Relaxed);
        if let Some(sleeper) = self.idle.pick(live) {
            self.carrier(sleeper).wake_up();
        }
    }

    /// Has another carrier something unstarted that this one, whose patience that is, should start?
    pub(crate) fn has_unstarted_now(
        &self,
        carrier: &Carrier,
        is_over: impl Fn(&Carrier) -> bool,
    ) -> bool {
        let now = !self.injector.is_empty()
            || self
                .carriers()
                .any(|other| other.id != carrier.id && is_over(other));
        now && !self.leaves_to_another(carrier)
    }

    /// Work for a carrier whose own queues are empty: the injector, then what others have not started and its patience
    /// with them is over.
    pub(crate) fn find_unstarted(
        &self,
        carrier: &Carrier,
        own: &Worker<Unstarted>,
        is_over: impl Fn(&Carrier) -> bool,
    ) -> Option<Unstarted> {
        if !self.may_take(carrier.id) || self.leaves_to_another(carrier) {
            return None;
        }
        let found = self
            .retry(|| self.injector.steal_batch_and_pop(own))
            .or_else(|| {
                let count = self.started.load(Ordering::Acquire);
                (1..count).find_map(|step| {
                    let victim = self.carrier((carrier.id + step) % count);
                    if !is_over(victim) {
                        return None;
                    }
                    self.retry(|| victim.stealer.steal_batch_and_pop(own))
                })
            });
        if found.is_some() && !own.is_empty() {
            self.notify_work();
        }
        found
    }

    /// Work of a carrier that has more, for one that is busy and has started all its own: else what it does not take
    /// before its threads keep it busy stays with the one that spawned it.
    pub(crate) fn find_at_a_fuller(
        &self,
        carrier: &Carrier,
        own: &Worker<Unstarted>,
    ) -> Option<Unstarted> {
        let share = |other: &Carrier| other.live.load(Ordering::Relaxed) + other.stealer.len();
        let count = self.started.load(Ordering::Acquire);
        let fuller = (0..count).map(|id| self.carrier(id)).find(|other| {
            other.id != carrier.id
                && !other.stealer.is_empty()
                && !other.fleeting.load(Ordering::Relaxed)
                && share(other) > share(carrier)
        })?;
        if !self.may_take(carrier.id) {
            return None;
        }
        self.retry(|| fuller.stealer.steal_batch_and_pop(own))
    }

    /// Work from outside, for a carrier that is busy.
    pub(crate) fn find_injected(&self, carrier: &Carrier) -> Option<Unstarted> {
        if self.injector.is_empty() || !self.may_take(carrier.id) || self.leaves_to_another(carrier)
        {
            return None;
        }
        self.retry(|| self.injector.steal())
    }

    fn retry(&self, steal: impl Fn() -> Steal<Unstarted>) -> Option<Unstarted> {
        loop {
            match steal() {
                Steal::Success(unstarted) => return Some(unstarted),
                Steal::Empty => return None,
                Steal::Retry => std::hint::spin_loop(),
            }
        }
    }

    /// Is there a thread that has not started and may run anywhere?
    pub(crate) fn has_unstarted(&self) -> bool {
        !self.injector.is_empty() || self.carriers().any(|carrier| !carrier.stealer.is_empty())
    }

    /// Threads that have not started and may run anywhere.
    pub(crate) fn unstarted(&self) -> usize {
        self.injector.len()
            + self
                .carriers()
                .map(|carrier| carrier.stealer.len())
                .sum::<usize>()
    }

    /// Could another carrier than this one mount something?
    pub(crate) fn another_can_take(&self, id: usize) -> bool {
        self.carriers()
            .any(|other| other.id != id && is_free(other))
    }

    /// A carrier is about to be stuck: what it has not started goes to others.
    pub(crate) fn rescue_unstarted(self: &Arc<Self>) {
        if self.has_unstarted() {
            self.notify_work();
            self.compensate();
        }
    }

    pub(crate) fn begin_search(&self) -> Search<'_> {
        self.idle.search()
    }

    /// Joins the idle set. The caller looks for work once more before it sleeps.
    pub(crate) fn enter_idle(&self, id: usize) {
        self.idle.join(id);
    }

    pub(crate) fn leave_idle(&self, id: usize) {
        self.idle.leave(id);
    }

    /// A parked thread's wait has ended: it goes to its home carrier's run queue.
    pub(crate) fn schedule(&self, record: &Record) {
        let Some(home) = record.home() else { return };
        match current::carrier_in(self).filter(|local| local.id() == home) {
            Some(local) => local.push_ready(record.place()),
            None => self.carrier(home).deliver(record.place()),
        }
    }

    /// A pinned thread's wait has ended: its carrier looks up.
    pub(crate) fn signal(&self, record: &Record) {
        if let Some(home) = record.home() {
            self.carrier(home).wake_up();
        }
    }

    /// The thread has ended and its stack is free.
    pub(crate) fn forget(&self, record: &Record) {
        self.registry.remove(record);
        if self.may_end() {
            self.wake_all();
        }
    }

    /// Tells a shutdown to look again. To be called after a record was marked as ended: one that is woken before
    /// would look too early, and not again.
    pub(crate) fn tell_of_end(&self) {
        if self.is_stopping() {
            for waiter in std::mem::take(&mut *self.watching_ends.lock()) {
                waiter.wake();
            }
        }
    }

    /// Carriers end when no thread is queued, started or leaked any more.
    pub(crate) fn may_end(&self) -> bool {
        self.is_stopping() && self.stacks.live() == 0
    }

    fn wake_all(&self) {
        self.watchdog.wake();
        for carrier in self.carriers() {
            carrier.wake_up();
        }
    }

    /// A live virtual thread of this runtime.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<Record>> {
        self.registry.find(id)
    }

    pub(crate) fn name_of(&self, id: u64) -> Option<Arc<str>> {
        self.registry.find(id).map(|record| record.display_name())
    }

    pub(crate) fn records(&self) -> Vec<Arc<Record>> {
        self.registry.snapshot()
    }

    pub(crate) fn each_record(&self, visit: impl FnMut(&Arc<Record>)) {
        self.registry.each(visit);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// No more spawns; carriers end when nothing lives on them.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.offload.close();
        self.wake_all();
    }

    /// The pool or a backend gave no stack.
    pub(crate) fn refuse_stack(&self, error: StackError) -> SpawnError {
        self.report_refused(SpawnError::no_stack(error, &self.stacks))
    }

    fn report_refused(&self, error: SpawnError) -> SpawnError {
        self.hub.report(Event::VirtualThreadSubmitFailed {
            cause: error.to_string().into(),
            live: self.stacks.live() as u64,
            cap: self.stacks.cap() as u64,
        });
        self.counters.count_refusal();
        error
    }

    /// Hands everything recorded so far to the subscriber, undeclared blocking that has ended included.
    pub(crate) fn flush_events(&self, limit: Duration) -> bool {
        self.hub.flush(limit)
    }
}
