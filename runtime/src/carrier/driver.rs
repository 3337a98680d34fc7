//! Readiness of file descriptors: one edge-triggered epoll for each carrier.
//!
//! A waiter registers its descriptor with its *own* carrier, once for each pair, so a stream may move between
//! threads of different carriers and each of them gets the edge. An epoll entry carries slot and generation, and a
//! descriptor is taken out of every epoll before it is closed, so readiness never reaches the next owner of
//! its number.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::Timespec;

use super::Carrier;
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
    source: Weak<Readiness>,
}

/// One direction of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// Who waits for one descriptor, in both directions.
#[derive(Default)]
struct Readiness {
    read: Side,
    write: Side,
}

#[derive(Default)]
struct Side {
    /// An edge came since this was last cleared.
    edge: AtomicBool,
    waiters: Mutex<Vec<Waiter>>,
}

/// A descriptor's registrations with the carriers that have waited for it.
#[derive(Default)]
pub(crate) struct Registration {
    readiness: Arc<Readiness>,
    carriers: Mutex<Vec<(Arc<Carrier>, u64)>>,
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
                let flags = event.flags;
                let broken = EventFlags::HUP | EventFlags::ERR;
                if flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::PRI | broken) {
                    source.read.wake_all();
                }
                if flags.intersects(EventFlags::OUT | broken) {
                    source.write.wake_all();
                }
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

    fn add(&self, fd: BorrowedFd<'_>, readiness: &Arc<Readiness>) -> std::io::Result<u64> {
        let token = self.slots.lock().insert(Arc::downgrade(readiness));
        let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        if let Err(error) = epoll::add(&self.epoll, fd, EventData::new_u64(token), interest) {
            self.slots.lock().remove(token);
            return Err(error.into());
        }
        Ok(token)
    }

    fn remove(&self, fd: BorrowedFd<'_>, token: u64) {
        self.slots.lock().remove(token);
        // Fails only if the descriptor was closed behind our back; then the kernel has removed it.
        let _ = epoll::delete(&self.epoll, fd);
    }
}

impl Slots {
    fn insert(&mut self, source: Weak<Readiness>) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Slot::default());
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        let slot = &mut self.entries[index as usize];
        slot.source = source;
        u64::from(slot.generation) << 32 | u64::from(index)
    }

    fn remove(&mut self, token: u64) {
        let index = token as u32;
        let slot = &mut self.entries[index as usize];
        // The all-ones token is the wake-up's.
        slot.generation = (slot.generation + 1) % (u32::MAX - 1);
        slot.source = Weak::new();
        self.free.push(index);
    }

    fn find(&self, token: u64) -> Option<Arc<Readiness>> {
        let slot = self.entries.get(token as u32 as usize)?;
        (slot.generation == (token >> 32) as u32)
            .then(|| slot.source.upgrade())
            .flatten()
    }
}

impl Side {
    fn wake_all(&self) {
        self.edge.store(true, Ordering::SeqCst);
        let waiters = std::mem::take(&mut *self.waiters.lock());
        for waiter in waiters {
            waiter.wake();
        }
    }
}

impl Registration {
    fn side(&self, direction: Direction) -> &Side {
        match direction {
            Direction::Read => &self.readiness.read,
            Direction::Write => &self.readiness.write,
        }
    }

    /// Forgets edges seen so far; call before the attempt that may say "would block".
    pub(crate) fn clear_edge(&self, direction: Direction) {
        self.side(direction).edge.store(false, Ordering::SeqCst);
    }

    /// Registers `waiter` for the next edge on `fd` with that carrier. False if an edge came since
    /// [`clear_edge`](Self::clear_edge): try again instead of waiting.
    pub(crate) fn enlist(
        &self,
        carrier: &Arc<Carrier>,
        fd: impl AsFd,
        direction: Direction,
        waiter: &Waiter,
    ) -> std::io::Result<bool> {
        let side = self.side(direction);
        {
            let mut waiters = side.waiters.lock();
            waiters.retain(Waiter::is_current);
            waiters.push(waiter.clone());
        }
        let mut carriers = self.carriers.lock();
        if !carriers
            .iter()
            .any(|(known, _)| Arc::ptr_eq(known, carrier))
        {
            // A fresh entry reports readiness that is there already, so no edge is lost between the two.
            let token = carrier.driver.add(fd.as_fd(), &self.readiness)?;
            carriers.push((Arc::clone(carrier), token));
        }
        drop(carriers);
        Ok(!side.edge.load(Ordering::SeqCst))
    }

    /// Takes `fd` out of every epoll and wakes all who wait for it; call before closing it.
    pub(crate) fn withdraw(&self, fd: impl AsFd) {
        for (carrier, token) in std::mem::take(&mut *self.carriers.lock()) {
            carrier.driver.remove(fd.as_fd(), token);
        }
        self.readiness.read.wake_all();
        self.readiness.write.wake_all();
    }
}
