//! How far a thread has come, what it leaves, and who waits for that, by joining or by awaiting.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Poll, Waker};

use super::Waiter;
use crate::primitive::Parcel;

/// The part of a [`Record`](super::Record) that its end is about, under one lock.
#[derive(Default)]
pub(crate) struct Life {
    ended: bool,
    /// The closure is gone, with or without a result.
    over: bool,
    /// Nobody will take a result.
    detached: bool,
    result: Option<Parcel>,
    joiner: Option<Waiter>,
    rare: Option<Box<Rare>>,
}

/// What few threads have.
#[derive(Default)]
struct Rare {
    joiners: Vec<Waiter>,
    waker: Option<Waker>,
}

/// Those to be woken by an end. Awaiting tasks are foreign code: not to be woken under a lock.
#[must_use]
#[derive(Default)]
pub(crate) struct Watchers {
    joiner: Option<Waiter>,
    rare: Option<Box<Rare>>,
}

impl Life {
    /// The closure is gone and left a result or none. Gives back the result if nobody will take it, and whom its end
    /// wakes.
    #[must_use]
    pub(crate) fn leave(&mut self, result: Option<Parcel>) -> (Option<Parcel>, Option<Waker>) {
        self.over = true;
        let waker = self.rare.as_mut().and_then(|rare| rare.waker.take());
        if self.detached {
            return (result, waker);
        }
        self.result = result;
        (None, waker)
    }

    pub(crate) fn take_result(&mut self) -> Option<Parcel> {
        self.result.take()
    }

    /// The handle is gone; gives back what nobody took.
    #[must_use]
    pub(crate) fn detach(&mut self) -> Option<Parcel> {
        self.detached = true;
        self.result.take()
    }

    /// Has the closure gone? Else `waker` is woken then. Gives back a waker that is not needed, to be dropped
    /// without the lock.
    pub(crate) fn poll_over(&mut self, waker: Waker) -> (Poll<()>, Option<Waker>) {
        if self.over {
            return (Poll::Ready(()), Some(waker));
        }
        let rare = self.rare.get_or_insert_default();
        (Poll::Pending, rare.waker.replace(waker))
    }

    /// The thread has ended.
    pub(crate) fn end(&mut self) -> Watchers {
        self.ended = true;
        self.over = true;
        Watchers {
            joiner: self.joiner.take(),
            rare: self.rare.take(),
        }
    }

    /// Registers who waits for the end; false if it has come already.
    pub(crate) fn add_joiner(&mut self, joiner: Waiter) -> bool {
        if self.ended {
            return false;
        }
        if self.joiner.as_ref().is_none_or(|first| !first.is_current()) {
            self.joiner = Some(joiner);
        } else {
            let joiners = &mut self.rare.get_or_insert_default().joiners;
            joiners.retain(Waiter::is_current);
            joiners.push(joiner);
        }
        true
    }
}

impl Watchers {
    pub(crate) fn wake(self) {
        let rare = self.rare.map(|rare| *rare).unwrap_or_default();
        for joiner in self.joiner.into_iter().chain(rare.joiners) {
            joiner.wake();
        }
        if let Some(waker) = rare.waker {
            wake_task(waker);
        }
    }
}

/// Wakes an async task, which is foreign code: its panic must not get past the end of a thread, nor may the
/// destructor of the payload.
pub(crate) fn wake_task(waker: Waker) {
    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake())).map_err(std::mem::forget);
}
