//! Readiness of file descriptors: one edge-triggered epoll for each carrier.
//!
//! A waiter registers its descriptor with its *own* carrier, once for each pair, so a stream may move between
//! threads of different carriers and each of them gets the edge. An epoll entry carries slot and generation, and a
//! descriptor is taken out of every epoll before it is closed, so readiness never reaches the next owner of
//! its number.
//!
//! **Invariant (no lost edge):** a [`Source`] is read and changed only by its carrier's OS thread: by the poll below,
//! and by the virtual thread mounted there. So no edge can be collected between an attempt that would block and
//! the wait that follows it; what becomes ready in between is collected later, and finds the waiter.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::Timespec;

use super::Carrier;
use crate::park::Waiter;

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

/// What one carrier knows of one descriptor, and which of its threads wait for it.
#[derive(Default)]
pub(crate) struct Source(Mutex<[Side; 2]>);

#[derive(Default)]
struct Side {
    /// An attempt found nothing left, and no edge has come since.
    drained: bool,
    /// An attempt that takes little does not prove that nothing is left: the other end is gone, so that the
    /// descriptor stays ready without a further edge, or urgent data was seen.
    unclear: bool,
    waiters: Vec<Waiter>,
}

/// A descriptor's registrations with the carriers that have waited for it.
#[derive(Default)]
pub(crate) struct Registration(Mutex<Vec<Entry>>);

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

    /// Carrier: waits for readiness, at most `limit`, and wakes whom it concerns.
    pub(super) fn poll(&self, limit: Option<Duration>, events: &mut Vec<Event>) {
        events.clear();
        let timeout = limit.and_then(|limit| Timespec::try_from(limit).ok());
        // An error is EINTR: as good as a wake-up.
        let _ = epoll::wait(
            &self.epoll,
            rustix::buffer::spare_capacity(events),
            timeout.as_ref(),
        );
        for event in events.iter() {
            let data = event.data.u64();
            if data == WAKE_UP {
                continue;
            }
            let source = self.slots.lock().find(data);
            if let Some(source) = source {
                source.collect(event.flags);
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

    fn find(&self, token: u64) -> Option<Arc<Source>> {
        let slot = self.entries.get(token as u32 as usize)?;
        (slot.generation == (token >> 32) as u32)
            .then(|| slot.source.clone())
            .flatten()
    }
}

impl Source {
    fn collect(&self, flags: EventFlags) {
        let broken = EventFlags::HUP | EventFlags::ERR;
        // A read stops at urgent data, though more may stand behind it.
        let lasting = EventFlags::RDHUP | EventFlags::PRI | broken;
        let mut sides = self.0.lock();
        let [read, write] = &mut *sides;
        if flags.intersects(EventFlags::IN | lasting) {
            read.edge(flags.intersects(lasting));
        }
        if flags.intersects(EventFlags::OUT | broken) {
            write.edge(flags.intersects(broken));
        }
    }

    /// Would an attempt find nothing, as far as is known?
    pub(crate) fn is_drained(&self, direction: Direction) -> bool {
        self.0.lock()[direction as usize].drained
    }

    /// An attempt found nothing left.
    pub(crate) fn set_drained(&self, direction: Direction) {
        let side = &mut self.0.lock()[direction as usize];
        side.drained = !side.unclear;
    }

    /// The next edge wakes `waiter`.
    pub(crate) fn enlist(&self, direction: Direction, waiter: &Waiter) {
        let waiters = &mut self.0.lock()[direction as usize].waiters;
        waiters.retain(Waiter::is_current);
        waiters.push(waiter.clone());
    }
}

impl Side {
    fn edge(&mut self, lasting: bool) {
        self.drained = false;
        self.unclear |= lasting;
        for waiter in self.waiters.drain(..) {
            waiter.wake();
        }
    }
}

impl Registration {
    /// What that carrier knows of the descriptor, if it has been registered there.
    pub(crate) fn get(&self, carrier: &Arc<Carrier>) -> Option<Arc<Source>> {
        let entries = self.0.lock();
        let entry = entries
            .iter()
            .find(|entry| Arc::ptr_eq(&entry.carrier, carrier))?;
        Some(Arc::clone(&entry.source))
    }

    /// [`get`](Self::get), registering `fd` there first if it is new. The kernel reports readiness that a new
    /// entry has already, so none is lost between the attempt before and the wait after.
    pub(crate) fn get_or_add(
        &self,
        carrier: &Arc<Carrier>,
        fd: impl AsFd,
    ) -> std::io::Result<Arc<Source>> {
        if let Some(source) = self.get(carrier) {
            return Ok(source);
        }
        // Only the carrier's own OS thread registers with it, so nobody else adds the same pair meanwhile.
        let source = Arc::<Source>::default();
        let token = carrier.driver.add(fd, &source)?;
        self.0.lock().push(Entry {
            carrier: Arc::clone(carrier),
            token,
            source: Arc::clone(&source),
        });
        Ok(source)
    }

    /// Takes `fd` out of every epoll; call before closing it. Nobody waits for it then, since a wait borrows it.
    pub(crate) fn withdraw(&self, fd: impl AsFd) {
        for entry in std::mem::take(&mut *self.0.lock()) {
            entry.carrier.driver.remove(&fd, entry.token);
        }
    }
}
