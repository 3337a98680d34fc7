//! Readiness of file descriptors: one edge-triggered epoll for each carrier.
//!
//! A waiter registers its descriptor with its *own* carrier, once for each pair, so a stream may move between
//! threads of different carriers and each of them gets the edge. An epoll entry carries slot and generation, and a
//! descriptor is taken out of every epoll before it is closed, so readiness never reaches the next owner of
//! its number.
//!
//! **Invariant (no lost edge):** a [`Source`] is read and changed only by its carrier's OS thread: by the poll below,
//! and by the virtual thread mounted there. So no edge can be collected between an attempt that would block and
//! the wait that follows it; what becomes ready in between is collected later, and finds the waiter. For the same
//! reason its flags need no read-modify-write and its lock is never contended.

use std::borrow::Cow;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::Timespec;

use super::{Carrier, Local, precise};
use crate::park::Waiter;
use crate::primitive::{AtomicBool, Ordering};

/// The entry of the carrier's own wake-up descriptor.
const WAKE_UP: u64 = u64::MAX;

/// One carrier's epoll and what is registered in it.
pub(crate) struct Driver {
    epoll: OwnedFd,
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    entries: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Default)]
struct Slot {
    generation: u32,
    source: Option<Arc<Source>>,
}

/// One direction of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// What one carrier knows of one descriptor, and which of its threads wait for it: one line of the cache, which thousands of busy
/// connections have not much of.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct Source([Side; 2]);

#[derive(Default)]
struct Side {
    /// An attempt found nothing left, and no edge has come since.
    drained: AtomicBool,
    /// An attempt that takes little does not prove that nothing is left: the other end is gone, so that the
    /// descriptor stays ready without a further edge, or urgent data was seen.
    unclear: AtomicBool,
    /// Somebody waits for an edge: most edges are nobody's, since each event tells of both directions.
    awaited: AtomicBool,
    waiters: Mutex<Waiters>,
}

/// Hardly ever more than one.
#[derive(Default)]
struct Waiters {
    first: Option<Waiter>,
    #[expect(
        clippy::box_collection,
        reason = "a third of the size, and next to never there"
    )]
    others: Option<Box<Vec<Waiter>>>,
}

/// A descriptor's registrations with the carriers that have waited for it.
#[derive(Default)]
pub(crate) struct Registration {
    /// Most descriptors stay with one carrier.
    first: OnceLock<Entry>,
    others: Mutex<Vec<Entry>>,
}

struct Entry {
    carrier: Arc<Carrier>,
    token: u64,
    source: Arc<Source>,
}

impl Driver {
    pub(super) fn new(wake: &OwnedFd) -> std::io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(
            &epoll,
            wake,
            EventData::new_u64(WAKE_UP),
            EventFlags::IN | EventFlags::ET,
        )?;
        Ok(Self {
            epoll,
            slots: Mutex::default(),
        })
    }

    /// Waits for readiness, at most `limit`, and wakes whom it concerns, all of whom live on `carrier`, which this is
    /// the driver of.
    pub(super) fn poll(&self, carrier: &Local, limit: Option<Duration>, events: &mut Vec<Event>) {
        events.clear();
        precise::wait(&self.epoll, events, limit);
        // A woken thread only joins this carrier's run queue, so the lock is held over nothing that takes long.
        let slots = self.slots.lock();
        for event in events.iter() {
            let data = event.data.u64();
            if let Some(source) = slots.find(data).filter(|_| data != WAKE_UP) {
                source.collect(event.flags, carrier);
            }
        }
    }

    /// Watchdog: is anything ready that nobody has collected? Looks without consuming.
    pub(crate) fn has_pending(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, poll};
        let mut fds = [PollFd::new(&self.epoll, PollFlags::IN)];
        poll(
            &mut fds,
            Some(&Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            }),
        )
        .is_ok_and(|ready| ready > 0)
    }

    fn add(&self, fd: impl AsFd, source: &Arc<Source>) -> std::io::Result<u64> {
        let token = self.slots.lock().insert(Arc::clone(source));
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        if let Err(error) = epoll::add(&self.epoll, fd, EventData::new_u64(token), interest) {
            self.slots.lock().remove(token);
            return Err(error.into());
        }
        Ok(token)
    }

    fn remove(&self, fd: impl AsFd, token: u64) {
        // Fails only if the descriptor was closed behind our back; then the kernel has removed it.
        let _ = epoll::delete(&self.epoll, fd);
        self.slots.lock().remove(token);
    }
}

impl Slots {
    fn insert(&mut self, source: Arc<Source>) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Slot::default());
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        let slot = &mut self.entries[index as usize];
        slot.source = Some(source);
        u64::from(slot.generation) << 32 | u64::from(index)
    }

    fn remove(&mut self, token: u64) {
        let index = token as u32;
        let slot = &mut self.entries[index as usize];
        // The all-ones token is the wake-up's.
        slot.generation = (slot.generation + 1) % (u32::MAX - 1);
        slot.source = None;
        self.free.push(index);
    }

    fn find(&self, token: u64) -> Option<&Source> {
        let slot = self.entries.get(token as u32 as usize)?;
        let is_current = slot.generation == (token >> 32) as u32;
        slot.source.as_deref().filter(|_| is_current)
    }
}

impl Source {
    fn collect(&self, flags: EventFlags, carrier: &Local) {
        let broken = EventFlags::HUP | EventFlags::ERR;
        // A read stops at urgent data, though more may stand behind it.
        let lasting = EventFlags::RDHUP | EventFlags::PRI | broken;
        let [read, write] = &self.0;
        if flags.intersects(EventFlags::IN | lasting) {
            read.edge(flags.intersects(lasting), carrier);
        }
        if flags.intersects(EventFlags::OUT | broken) {
            write.edge(flags.intersects(broken), carrier);
        }
    }

    /// Would an attempt find nothing, as far as is known?
    pub(crate) fn is_drained(&self, direction: Direction) -> bool {
        self.0[direction as usize].drained.load(Ordering::Relaxed)
    }

    /// An attempt found nothing left.
    pub(crate) fn set_drained(&self, direction: Direction) {
        let side = &self.0[direction as usize];
        let unclear = side.unclear.load(Ordering::Relaxed);
        side.drained.store(!unclear, Ordering::Relaxed);
    }

    /// The next edge wakes `waiter`.
    pub(crate) fn enlist(&self, direction: Direction, waiter: Waiter) {
        let side = &self.0[direction as usize];
        side.awaited.store(true, Ordering::Relaxed);
        let mut waiters = side.waiters.lock();
        if waiters
            .first
            .as_ref()
            .is_none_or(|first| !first.is_current())
        {
            waiters.first = Some(waiter);
        } else {
            let others = waiters.others.get_or_insert_default();
            others.retain(Waiter::is_current);
            others.push(waiter);
        }
    }
}

impl Side {
    fn edge(&self, lasting: bool, carrier: &Local) {
        self.drained.store(false, Ordering::Relaxed);
        if lasting {
            self.unclear.store(true, Ordering::Relaxed);
        }
        if !self.awaited.load(Ordering::Relaxed) {
            return;
        }
        self.awaited.store(false, Ordering::Relaxed);
        let (first, others) = {
            let mut waiters = self.waiters.lock();
            (waiters.first.take(), waiters.others.take())
        };
        if let Some(waiter) = first {
            waiter.wake_at_home(carrier);
        }
        for waiter in others.into_iter().flat_map(|others| *others) {
            waiter.wake_at_home(carrier);
        }
    }
}

impl Registration {
    /// What that carrier knows of the descriptor, if it has been registered there.
    pub(crate) fn get(&self, carrier: &Arc<Carrier>) -> Option<Cow<'_, Arc<Source>>> {
        let first = self.first.get()?;
        if Arc::ptr_eq(&first.carrier, carrier) {
            return Some(Cow::Borrowed(&first.source));
        }
        let others = self.others.lock();
        let entry = others
            .iter()
            .find(|entry| Arc::ptr_eq(&entry.carrier, carrier))?;
        Some(Cow::Owned(Arc::clone(&entry.source)))
    }

    /// Registers `fd` with a carrier where it is new. The kernel reports readiness that a new entry has already, so
    /// none is lost between the attempt before and the wait after.
    pub(crate) fn add(
        &self,
        carrier: &Arc<Carrier>,
        fd: impl AsFd,
    ) -> std::io::Result<Cow<'_, Arc<Source>>> {
        // Only the carrier's own OS thread registers with it, so nobody else adds the same pair meanwhile.
        let source = Arc::<Source>::default();
        let token = carrier.driver.add(fd, &source)?;
        let entry = Entry {
            carrier: Arc::clone(carrier),
            token,
            source: Arc::clone(&source),
        };
        if let Err(entry) = self.first.set(entry) {
            self.others.lock().push(entry);
        }
        Ok(Cow::Owned(source))
    }

    /// Takes `fd` out of every epoll; call before closing it. Nobody waits for it then, since a wait borrows it.
    pub(crate) fn withdraw(&mut self, fd: impl AsFd) {
        let others = std::mem::take(self.others.get_mut());
        for entry in self.first.take().into_iter().chain(others) {
            entry.carrier.driver.remove(&fd, entry.token);
        }
    }
}
