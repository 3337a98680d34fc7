//! The wait word: one atomic per thread that decides how each of its waits ends.
//!
//! ```text
//!            prepare                settle
//!   IDLE ───────────────> PREPARED ────────> PARKED   unmounted: whoever ends it schedules the thread
//!     ^                      │   └─────────> HELD     keeps its OS thread: whoever ends it signals that
//!     │ close                │ end              │ end
//!     └──────────────── DONE / TIMEOUT / INTERRUPTED / CANCELLED / DEADLOCK
//! ```
//!
//! **Invariant (one end):** of all calls of `end` for one epoch exactly one succeeds, and it learns what it
//! must do. A late waker, timer or readiness event of an earlier wait carries an old epoch and misses.
//!
//! **Invariant (no lost wake-up):** a waker that comes between `prepare` and `settle` moves PREPARED to an
//! ended phase without scheduling; `settle` then fails and its caller runs the thread on. A waker that comes
//! after `settle` sees PARKED or HELD and schedules or signals. There is no third case, because both
//! transitions are compare-exchanges on the same word.

use crate::primitive::{AtomicU64, Ordering};

/// No wait is under way.
const IDLE: u64 = 0;
/// A wait began; the thread still runs.
const PREPARED: u64 = 1;
/// The thread is unmounted.
const PARKED: u64 = 2;
/// The thread waits and keeps its OS thread: pinned, or no virtual thread at all.
const HELD: u64 = 3;
/// First of the ended phases; `End` says which.
const ENDED: u64 = 4;

const PHASE: u64 = 0b1111;
/// An interrupt may end this wait.
const INTERRUPTIBLE: u64 = 1 << 4;
/// Shutdown may end this wait.
const CANCELLABLE: u64 = 1 << 5;
/// It is a `park`: `unpark` may end it.
const PARK: u64 = 1 << 6;
const EPOCH_ONE: u64 = 1 << 7;

/// Who may end a wait besides those who were given its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allow(u64);

impl Allow {
    /// Nobody.
    pub(crate) const NOTHING: Self = Self(0);
    /// Shutdown.
    pub(crate) const CANCEL: Self = Self(CANCELLABLE);
    /// Interrupts.
    pub(crate) const INTERRUPT: Self = Self(INTERRUPTIBLE);
    /// `unpark` and interrupts.
    pub(crate) const PARK: Self = Self(PARK | INTERRUPTIBLE);

    /// Both.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn unpark(self) -> bool {
        self.0 & PARK != 0
    }

    pub(crate) const fn interrupt(self) -> bool {
        self.0 & INTERRUPTIBLE != 0
    }

    pub(crate) const fn cancel(self) -> bool {
        self.0 & CANCELLABLE != 0
    }
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Woken.
    Done = 4,
    /// The deadline passed.
    Timeout = 5,
    /// Interrupted.
    Interrupted = 6,
    /// The runtime is shutting down.
    Cancelled = 7,
    /// It would never end; the record has the story.
    Deadlock = 8,
}

/// What the caller of [`WaitWord::end`] must do.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Nothing: the wait is over or was another one.
    Missed,
    /// Nothing: the thread has not stopped yet and will see it.
    Noted,
    /// Put the thread into its carrier's run queue.
    Schedule,
    /// Wake the OS thread it sits on.
    Signal,
}

/// Where the waiting thread stays meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Off its carrier.
    Unmounted,
    /// On its OS thread.
    Held,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct WaitWord(AtomicU64);

impl WaitWord {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(IDLE))
    }

    /// Owner: begins a wait and returns its epoch.
    pub(crate) fn prepare(&self, allow: Allow) -> u64 {
        // Only the owner leaves IDLE or an ended phase, so load and store need not be one step. Who is given the epoch
        // is ordered after this by how it gets it; who ends whatever wait there is has left a flag, at which the owner
        // looks once it has settled.
        let epoch = (self.0.load(Ordering::Relaxed) / EPOCH_ONE + 1) * EPOCH_ONE;
        self.0.store(epoch | allow.0 | PREPARED, Ordering::Release);
        epoch
    }

    /// Owner: who may end this wait, as far as it said so.
    pub(crate) fn allows(&self) -> Allow {
        Allow(self.0.load(Ordering::Relaxed) & (INTERRUPTIBLE | CANCELLABLE | PARK))
    }

    /// Anybody: ends the `park` that is under way, if there is one.
    pub(crate) fn end_park(&self) -> Ended {
        self.end_where(End::Done, |seen| seen & PARK != 0)
    }

    /// Owner or its carrier: the thread stops now, and those whom `allow` adds may end the wait. An error is the end that
    /// came first. After success the caller looks for the flags of those who may end it: this and the look, and their
    /// flag and their look at the word, are each in that order for all, so one sees the other.
    pub(crate) fn settle(&self, epoch: u64, place: Place, allow: Allow) -> Result<(), End> {
        let target = if place == Place::Unmounted {
            PARKED
        } else {
            HELD
        };
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            if let Some(end) = ended(seen) {
                return Err(end);
            }
            debug_assert_eq!((seen & PHASE, epoch_of(seen)), (PREPARED, epoch));
            let next = (seen & !PHASE) | target | allow.0;
            match self
                .0
                .compare_exchange_weak(seen, next, Ordering::SeqCst, Ordering::Acquire)
            {
                Ok(_) => return Ok(()),
                Err(now) => seen = now,
            }
        }
    }

    /// Anybody: ends the wait `epoch`.
    pub(crate) fn end(&self, epoch: u64, end: End) -> Ended {
        self.end_where(end, |seen| epoch_of(seen) == epoch)
    }

    /// Anybody: ends whatever wait is under way, if it allows this end.
    pub(crate) fn end_any(&self, end: End) -> Ended {
        let needed = match end {
            End::Interrupted => INTERRUPTIBLE,
            End::Cancelled => CANCELLABLE,
            End::Done | End::Timeout | End::Deadlock => 0,
        };
        self.end_where(end, |seen| seen & needed == needed)
    }

    fn end_where(&self, end: End, applies: impl Fn(u64) -> bool) -> Ended {
        let mut seen = self.0.load(Ordering::SeqCst);
        loop {
            let result = match seen & PHASE {
                PREPARED => Ended::Noted,
                PARKED => Ended::Schedule,
                HELD => Ended::Signal,
                _ => return Ended::Missed,
            };
            if !applies(seen) {
                return Ended::Missed;
            }
            let next = (seen & !PHASE) | end as u64;
            match self
                .0
                .compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return result,
                Err(now) => seen = now,
            }
        }
    }

    /// Owner: how the current wait ended, if it did.
    pub(crate) fn ended(&self) -> Option<End> {
        ended(self.0.load(Ordering::Acquire))
    }

    /// Owner: the wait is over; late wakers miss from now on.
    pub(crate) fn close(&self) {
        let epoch = epoch_of(self.0.load(Ordering::Relaxed));
        self.0.store(epoch | IDLE, Ordering::Release);
    }

    /// Anybody: is the thread off its carrier now?
    pub(crate) fn is_unmounted(&self) -> bool {
        self.0.load(Ordering::Relaxed) & PHASE == PARKED
    }

    /// Anybody: has the thread stopped in the wait `epoch`, which has not ended?
    pub(crate) fn is_waiting_in(&self, epoch: u64) -> bool {
        let seen = self.0.load(Ordering::Relaxed);
        epoch_of(seen) == epoch && matches!(seen & PHASE, PARKED | HELD)
    }

    /// Anybody: is the wait `epoch` under way?
    pub(crate) fn is_open(&self, epoch: u64) -> bool {
        let seen = self.0.load(Ordering::Relaxed);
        epoch_of(seen) == epoch && matches!(seen & PHASE, PREPARED | PARKED | HELD)
    }

    /// Anybody: has the wait `epoch` ended without having been closed by its owner?
    pub(crate) fn is_unaccepted(&self, epoch: u64) -> bool {
        let seen = self.0.load(Ordering::Acquire);
        epoch_of(seen) == epoch && seen & PHASE >= ENDED
    }
}

fn epoch_of(word: u64) -> u64 {
    word / EPOCH_ONE * EPOCH_ONE
}

fn ended(word: u64) -> Option<End> {
    match word & PHASE {
        4 => Some(End::Done),
        5 => Some(End::Timeout),
        6 => Some(End::Interrupted),
        7 => Some(End::Cancelled),
        8 => Some(End::Deadlock),
        _ => None,
    }
}
