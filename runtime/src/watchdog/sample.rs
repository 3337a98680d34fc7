//! One carrier over time: is it where it was, since when, and does it sleep, compute or starve there?

use std::path::Path;
use std::sync::Arc;

use super::procfs::{Probe, Syscall, Times};
use crate::carrier::{Carrier, Status};
use crate::event::{CarrierState, Timestamp};
use crate::primitive::Ordering;

/// What the watchdog remembers of one carrier between two looks.
pub(super) struct Watch {
    probe: Option<Probe>,
    tid: u32,
    /// When the carrier was looked at last, on the runtime's clock.
    looked: u64,
    /// Number of the mount seen last; a mount that is still there at the next look is a stay.
    mounts: u64,
    thread: u64,
    pub(super) stay: Option<Stay>,
}

/// A mounted thread that was there at two looks or more.
pub(super) struct Stay {
    /// When it was seen first, on the runtime's clock.
    pub(super) since: u64,
    times: Option<Times>,
    /// It slept at the last look, which could not yet tell for how long.
    asleep_since: Option<u64>,
    pub(super) block: Option<Block>,
    pub(super) stall_reported: bool,
    pub(super) pin_reported: bool,
    /// When the wait or call began whose stack was kept for its end.
    pub(super) kept: Timestamp,
    /// Its blocking was seen to end at this look.
    pub(super) ended: Option<Block>,
    /// What it did since the look before.
    pub(super) state: CarrierState,
}

/// An undeclared blocking call under way.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) since: u64,
    pub(super) until: u64,
    pub(super) call: Option<Syscall>,
    pub(super) reported: bool,
    /// Reported as a suspected deadlock.
    pub(super) suspected: bool,
    /// Where it blocks, once that was asked.
    pub(super) stack: Vec<u64>,
    /// The thread's name, asked while the thread was certainly alive.
    pub(super) name: Option<Arc<str>>,
    /// The descriptor or futex it waits for, once that was asked.
    pub(super) awaited: Option<Arc<str>>,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self {
            probe: None,
            tid: 0,
            looked: 0,
            mounts: 0,
            thread: 0,
            stay: None,
        }
    }

    /// Id of the mounted thread seen last, 0 if there was none.
    pub(super) fn thread(&self) -> u64 {
        self.thread
    }

    /// The system call that the carrier sits in now.
    pub(super) fn call(&self) -> Option<Syscall> {
        self.probe.as_ref()?.syscall()
    }

    /// What `look` sees of the carrier, if it sits in that call and does not run meanwhile.
    pub(super) fn while_it_sits<T>(&self, call: &Syscall, look: impl FnOnce() -> T) -> Option<T> {
        let probe = self.probe.as_ref()?;
        let at = || (probe.times(), probe.syscall());
        let before = at();
        if before.1 != Some(*call) {
            return None;
        }
        let seen = look();
        (at() == before).then_some(seen)
    }

    /// What a blocked thread waits for, in words: `socket fd 7`, `futex@0x7f00`.
    pub(super) fn awaited(&self, call: &Syscall) -> Option<Arc<str>> {
        match super::syscalls::name(call.number)? {
            "futex" => Some(format!("futex@{:#x}", call.first).into()),
            name if super::syscalls::takes_descriptor(name) => {
                let text = self.probe.as_ref()?.descriptor(call.first)?;
                Some(text.into())
            }
            _ => None,
        }
    }

    /// Looks at the carrier. Returns a blocking call that ended with its mount.
    pub(super) fn look(&mut self, procfs: &Path, carrier: &Carrier, now: u64) -> Option<Block> {
        let before = std::mem::replace(&mut self.looked, now);
        let mounts = carrier.mounts.load(Ordering::Relaxed);
        let thread = carrier.mounted.load(Ordering::Relaxed);
        let is_mounted = thread != 0;
        if self.stay.is_some() && mounts == self.mounts && is_mounted {
            if let Some(stay) = &mut self.stay {
                // A declared region or a pinned wait reports itself.
                let is_declared = !matches!(carrier.status(), Status::Running | Status::Stalled);
                stay.observe(self.probe.as_ref().filter(|_| !is_declared), before, now);
            }
            return None;
        }
        let ended = self
            .stay
            .take()
            .and_then(|stay| stay.block)
            .map(|block| block.ended_between(before, now));
        (self.mounts, self.thread) = (mounts, thread);
        if is_mounted {
            let tid = carrier.tid.load(std::sync::atomic::Ordering::Relaxed);
            if self.tid != tid {
                (self.tid, self.probe) = (tid, Probe::open(procfs, tid));
            }
            self.stay = Some(Stay::begin(self.probe.as_ref(), before, now));
        }
        ended
    }
}

impl Block {
    /// It was there at the look `before` and gone at the look `now`: the middle is as good as any guess.
    fn ended_between(self, before: u64, now: u64) -> Self {
        Self {
            until: before.max(self.until).midpoint(now),
            ..self
        }
    }

    /// Does it wait in a futex: for a lock, a condition or a channel of std or parking_lot?
    pub(super) fn is_futex(&self) -> bool {
        self.call
            .and_then(|call| super::syscalls::name(call.number))
            == Some("futex")
    }

    pub(super) fn nanos(&self) -> u64 {
        self.until.saturating_sub(self.since)
    }
}

impl Stay {
    /// First sight of a mount that came after the look `before`.
    fn begin(probe: Option<&Probe>, before: u64, now: u64) -> Self {
        let sleeping = probe.and_then(Probe::is_sleeping) == Some(true);
        Self {
            since: now,
            times: probe.and_then(Probe::times),
            asleep_since: sleeping.then(|| {
                before
                    .max(now.saturating_sub(super::LONGEST_FIRST))
                    .midpoint(now)
            }),
            block: None,
            ended: None,
            state: CarrierState::Unknown,
            stall_reported: false,
            pin_reported: false,
            kept: Timestamp::default(),
        }
    }

    fn observe(&mut self, probe: Option<&Probe>, before: u64, now: u64) {
        self.ended = None;
        let asleep_since = self.asleep_since.take();
        let Some((probe, sleeping)) = probe.and_then(|probe| Some((probe, probe.is_sleeping()?)))
        else {
            // A declared wait or call begins, which reports itself; what blocked before it is over.
            self.ended = self
                .block
                .take()
                .map(|block| block.ended_between(before, now));
            (self.state, self.times) = (CarrierState::Unknown, None);
            return;
        };
        let times = probe.times();
        let earlier = std::mem::replace(&mut self.times, times);
        self.state = classify(sleeping, now.saturating_sub(before), earlier.zip(times));
        if self.state == CarrierState::Blocked {
            let call = probe.syscall();
            let since = asleep_since.unwrap_or(before);
            let block = self.block.get_or_insert(Block {
                since,
                until: now,
                call,
                reported: false,
                suspected: false,
                stack: Vec::new(),
                name: None,
                awaited: None,
            });
            block.until = now;
            block.call = call.or(block.call);
        } else {
            self.ended = self
                .block
                .take()
                .map(|block| block.ended_between(before, now));
            // It may have fallen asleep within this period; the next look tells.
            self.asleep_since = sleeping.then(|| before.midpoint(now));
        }
    }
}

/// Sleeping now is not enough: a starved thread of low priority was seen asleep between two slices. The times must
/// agree that it neither ran nor queued for most of the period.
fn classify(sleeping: bool, wall: u64, times: Option<(Times, Times)>) -> CarrierState {
    let Some((before, after)) = times else {
        return CarrierState::Unknown;
    };
    let ran = after.ran.saturating_sub(before.ran);
    let queued = after.queued.saturating_sub(before.queued);
    let blocked = wall.saturating_sub(ran).saturating_sub(queued);
    if sleeping && blocked * 5 >= wall * 4 {
        CarrierState::Blocked
    } else if queued > ran {
        CarrierState::CpuStarved
    } else if sleeping {
        // It went to sleep within the period: the next look tells.
        CarrierState::Unknown
    } else {
        CarrierState::Computing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn over(wall: u64, ran: u64, queued: u64, sleeping: bool) -> CarrierState {
        let before = Times {
            ran: 5 * MS,
            queued: 7 * MS,
        };
        let after = Times {
            ran: before.ran + ran,
            queued: before.queued + queued,
        };
        classify(sleeping, wall, Some((before, after)))
    }

    #[test]
    fn sleeping_through_is_blocked() {
        assert_eq!(over(10 * MS, 0, 0, true), CarrierState::Blocked);
    }

    #[test]
    fn asleep_between_two_slices_is_not() {
        assert_eq!(over(10 * MS, MS, 6 * MS, true), CarrierState::CpuStarved);
    }

    #[test]
    fn running_is_computing_and_waiting_for_a_core_is_starved() {
        assert_eq!(over(10 * MS, 9 * MS, MS, false), CarrierState::Computing);
        assert_eq!(
            over(10 * MS, 3 * MS, 7 * MS, false),
            CarrierState::CpuStarved
        );
    }

    #[test]
    fn without_times_nothing_is_guessed() {
        assert_eq!(classify(true, 10 * MS, None), CarrierState::Unknown);
    }
}
