//! One blocking operation of a primitive, from its first wait to its last.
//!
//! An operation may have to wait several times (a lock that somebody else won), but it is one operation for
//! events: it is measured and reported once, over all its waits.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::carrier::current;
use crate::event::{Deadlock, DeadlockKind, Event, Operation, Subject};
use crate::park::{self, End, Epoch, Spell, Wait, Waiter};

/// Why an operation ended without what it was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GaveUp {
    /// The deadline passed.
    Timeout,
    /// The thread was interrupted; its flag is clear again.
    Interrupted,
}

/// See the module's documentation. Reports when dropped.
pub(crate) struct Attempt {
    wait: Wait,
    spell: Spell,
    persists: bool,
    checked: bool,
    deadlock: Option<Arc<str>>,
}

impl Attempt {
    /// An operation of the caller's line that only a wake-up (or a cancel) ends.
    #[track_caller]
    pub(crate) fn new(operation: Operation) -> Self {
        let wait = Wait::new(operation, Location::caller());
        Self {
            wait,
            spell: Spell::default(),
            persists: false,
            checked: false,
            deadlock: None,
        }
    }

    /// The thing it waits for.
    pub(crate) fn about(mut self, subject: Subject) -> Self {
        self.wait.subject = Some(subject);
        self
    }

    /// Says what it waits for, when that is known later.
    pub(crate) fn set_subject(&mut self, subject: Subject) {
        self.wait.subject = Some(subject);
    }

    /// Gives up at `deadline`, if there is one.
    pub(crate) fn until(mut self, deadline: Option<Instant>) -> Self {
        self.wait.deadline = deadline;
        self
    }

    /// When it gives up.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.wait.deadline
    }

    /// Gives up at `deadline` from now on.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.wait.deadline = deadline;
    }

    /// Gives up when the thread is interrupted.
    pub(crate) fn interruptible(mut self) -> Self {
        self.wait.interruptible = true;
        self
    }

    /// The caller asks for [`deadlock`](Self::deadlock) when it was interrupted.
    pub(crate) fn checked(mut self) -> Self {
        self.checked = true;
        self
    }

    /// Was it interrupted because it would never have ended? The story of the cycle.
    pub(crate) fn deadlock(&self) -> Option<&str> {
        self.deadlock.as_deref()
    }

    /// From here on nothing but a wake-up ends its waits, not even a cancel.
    pub(crate) fn persist(&mut self) {
        self.wait.deadline = None;
        self.wait.interruptible = false;
        self.persists = true;
    }

    /// Begins a wait of this operation.
    pub(crate) fn prepare(&self) -> Waiter {
        if self.persists {
            park::prepare_lending()
        } else {
            park::prepare()
        }
    }

    /// [`prepare`](Self::prepare), where a waiter of an earlier wait may be at hand. Not after [`persist`](Self::persist).
    #[inline]
    pub(crate) fn prepare_in(&self, slot: &mut Option<Waiter>) -> Epoch {
        debug_assert!(!self.persists, "such a wait allows a cancel");
        park::prepare_in(slot)
    }

    /// Waits once. `owner` is the thread that has what is waited for, 0 if none or unknown. A cancel unwinds.
    #[inline(always)]
    pub(crate) fn wait(&mut self, epoch: impl Into<Epoch>, owner: u64) -> Result<(), GaveUp> {
        if owner != 0 {
            self.wait.owner = owner;
        }
        match self.wait_to_end(epoch) {
            End::Done => Ok(()),
            End::Timeout => Err(GaveUp::Timeout),
            End::Interrupted => Err(GaveUp::Interrupted),
            End::Cancelled => park::raise_cancel(),
            // It must get what it waits for; another wait of the cycle can be ended.
            End::Deadlock if self.persists => Ok(()),
            End::Deadlock if self.checked => {
                self.deadlock = Some(current::record().take_deadlock());
                Err(GaveUp::Interrupted)
            }
            End::Deadlock => park::raise_deadlock(),
        }
    }

    /// Waits once. After `Cancelled` the caller puts its things in order and calls [`park::raise_cancel`].
    #[inline(always)]
    pub(crate) fn wait_to_end(&mut self, epoch: impl Into<Epoch>) -> End {
        park::wait_in(epoch, &self.wait, &mut self.spell, self.persists)
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.spell.report(&self.wait);
    }
}

/// The caller would wait for itself, for ever: reported as a deadlock of one thread, and a panic.
#[cold]
#[track_caller]
pub(crate) fn refuse_self_wait(subject: Subject) -> ! {
    let at = Location::caller();
    let me = park::me();
    let Some(carrier) = current::carrier() else {
        panic!(
            "deadlock: thread #{me} waits at {at} for {subject} of -> thread #{me}: it is not reentrant, use a \
             ReentrantLock"
        );
    };
    let hub = carrier.hub();
    let (thread, lock) = (hub.thread_text(me), hub.subject_text(subject));
    let cycle: Arc<str> = format!("{thread} waits at {at} for lock {lock} of -> {thread}").into();
    hub.report(Event::PinnedDeadlock(Deadlock {
        kind: DeadlockKind::SelfWait,
        lock: Some(lock),
        owner: Some(thread),
        carriers: vec![carrier.id() as u64],
        cycle: Arc::clone(&cycle),
    }));
    panic!("deadlock: {cycle}: it is not reentrant, use a ReentrantLock");
}

/// After a wait whose interface cannot tell of an interrupt: the flag stays for whoever asks next.
pub(crate) fn keep_interrupt() {
    current::record().interrupt();
}

/// The deadline that lies `timeout` ahead; `None` if that is further than the clock goes.
pub(crate) fn deadline_in(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}
