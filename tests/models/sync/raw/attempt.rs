//! The models' stand-in for attempts: no events, no clock; a deadline passes when another thread says so.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::event::{Operation, Subject};
use crate::park::{self, End, Epoch, Spell, Wait, Waiter};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GaveUp {
    Timeout,
    Interrupted,
}

/// Where a timed attempt shows its wait to the thread that plays the clock.
pub(crate) type Clock = Arc<loom::sync::Mutex<Time>>;

/// A deadline, before or after it has passed.
#[derive(Default)]
pub(crate) struct Time {
    is_over: bool,
    waiter: Option<Waiter>,
}

pub(crate) struct Attempt {
    wait: Wait,
    clock: Option<Clock>,
}

impl Attempt {
    #[track_caller]
    pub(crate) fn new(operation: Operation) -> Self {
        Self {
            wait: Wait::new(operation, Location::caller()),
            clock: None,
        }
    }

    pub(crate) fn about(mut self, subject: Subject) -> Self {
        self.wait.subject = Some(subject);
        self
    }

    pub(crate) fn until(self, _: Option<Instant>) -> Self {
        self
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        None
    }

    pub(crate) fn set_deadline(&mut self, _: Option<Instant>) {}

    pub(crate) fn interruptible(self) -> Self {
        self
    }

    pub(crate) fn timed_by(mut self, clock: &Clock) -> Self {
        self.clock = Some(Arc::clone(clock));
        self
    }

    pub(crate) fn persist(&mut self) {
        self.clock = None;
    }

    pub(crate) fn prepare(&self) -> Waiter {
        park::prepare()
    }

    pub(crate) fn prepare_in(&self, slot: &mut Option<Waiter>) -> Epoch {
        slot.insert(park::prepare()).epoch()
    }

    pub(crate) fn wait(&mut self, epoch: impl Into<Epoch>, owner: u64) -> Result<(), GaveUp> {
        self.wait.owner = owner;
        match self.wait_to_end(epoch) {
            End::Timeout => Err(GaveUp::Timeout),
            End::Interrupted => Err(GaveUp::Interrupted),
            _ => Ok(()),
        }
    }

    pub(crate) fn wait_to_end(&mut self, epoch: impl Into<Epoch>) -> End {
        let waiter: Waiter = epoch.into();
        if let Some(clock) = &self.clock {
            let mut time = clock.lock().expect("no panic");
            if time.is_over {
                waiter.time_out();
            } else {
                time.waiter = Some(waiter.clone());
            }
        }
        park::wait_in(waiter, &self.wait, &mut Spell, false)
    }
}

/// The deadline of whoever is timed by that clock passes now.
pub(crate) fn strike(clock: &Clock) {
    let waiter = {
        let mut time = clock.lock().expect("no panic");
        time.is_over = true;
        time.waiter.take()
    };
    if let Some(waiter) = waiter {
        waiter.time_out();
    }
}

pub(crate) fn refuse_self_wait(subject: Subject) -> ! {
    panic!("{subject} is this thread's own");
}

pub(crate) fn keep_interrupt() {}

pub(crate) fn deadline_in(_: Duration) -> Option<Instant> {
    None
}
