//! Waiting for one or several channels at once: a place in each queue, one wait for all.
//!
//! Whoever calls first ends the wait. The thread then looks at all of them again, and what it was called for and did
//! not take goes to the next in line: leaving a place passes its call on.

use std::sync::Arc;
use std::time::Instant;

use super::buffer::{Begun, Buffer};
use super::meeting::{Meeting, Open};
use crate::park::Waiter;
use crate::sync::raw::attempt::{self, Attempt, GaveUp};
use crate::sync::wait_queue::{Line, Place, Ticket, WaitQueue};

/// One half of a channel, whatever its messages are.
pub(crate) trait Half {
    /// Begins its operation, if that is possible now, but not with the caller's own word.
    fn begin(&self, own: Option<&Arc<Meeting>>) -> Option<Begun>;

    /// Can that be expected to succeed?
    fn is_ready(&self, own: Option<&Arc<Meeting>>) -> bool;

    /// Gives back what was begun.
    fn withdraw(&self, begun: Begun);

    /// Where its threads stand in line; `None` if only the clock makes it ready.
    fn queue(&self) -> Option<&WaitQueue> {
        None
    }

    /// Does it give its word when it waits?
    fn meets(&self) -> bool {
        false
    }

    /// Stands in the line of [`queue`](Self::queue) for `waiter`, so that whoever makes it ready calls; again if it has
    /// a place there. `word` is what a sender may claim, for the channel with that number.
    fn stand<'q>(
        &'q self,
        _place: &mut Option<Place<'q>>,
        _waiter: &Waiter,
        _word: Option<(&Arc<Meeting>, usize)>,
    ) {
    }

    /// Stands in line no more; the place is given up after this.
    fn leave(&self, _ticket: Ticket) {}

    /// Its word was claimed: what came of it.
    fn claimed(&self, _ticket: Ticket) -> Option<Begun> {
        None
    }

    /// When the clock makes it ready.
    fn due(&self) -> Option<Instant> {
        None
    }
}

/// The sending half of a buffer.
pub(crate) struct Sends<T>(pub(crate) Arc<Buffer<T>>);

/// The receiving half of a buffer.
pub(crate) struct Receives<T>(pub(crate) Arc<Buffer<T>>);

impl<T> Half for Sends<T> {
    fn begin(&self, own: Option<&Arc<Meeting>>) -> Option<Begun> {
        self.0.begin_send(own)
    }

    fn is_ready(&self, own: Option<&Arc<Meeting>>) -> bool {
        self.0.can_send(own)
    }

    fn withdraw(&self, begun: Begun) {
        self.0.withdraw(begun);
    }

    fn queue(&self) -> Option<&WaitQueue> {
        Some(&self.0.senders)
    }

    fn stand<'q>(
        &'q self,
        place: &mut Option<Place<'q>>,
        waiter: &Waiter,
        _: Option<(&Arc<Meeting>, usize)>,
    ) {
        let mut state = self.0.lock();
        state.sending.waiting += usize::from(place.is_none());
        join(place, &self.0.senders, waiter);
    }

    fn leave(&self, _: Ticket) {
        self.0.lock().sending.waiting -= 1;
    }
}

impl<T> Half for Receives<T> {
    fn begin(&self, _: Option<&Arc<Meeting>>) -> Option<Begun> {
        self.0.begin_recv()
    }

    fn is_ready(&self, _: Option<&Arc<Meeting>>) -> bool {
        self.0.can_recv()
    }

    fn withdraw(&self, begun: Begun) {
        self.0.withdraw(begun);
    }

    fn queue(&self) -> Option<&WaitQueue> {
        Some(&self.0.receivers)
    }

    fn meets(&self) -> bool {
        self.0.hands_over()
    }

    fn stand<'q>(
        &'q self,
        place: &mut Option<Place<'q>>,
        waiter: &Waiter,
        word: Option<(&Arc<Meeting>, usize)>,
    ) {
        let mut state = self.0.lock();
        state.receiving.waiting += usize::from(place.is_none());
        let ticket = join(place, &self.0.receivers, waiter);
        if let Some((word, arm)) = word {
            state.close(ticket);
            state.open.push(Open {
                ticket,
                waiter: waiter.clone(),
                meeting: Arc::clone(word),
                arm: arm as u64,
            });
            self.0.call_senders(state);
        }
    }

    fn leave(&self, ticket: Ticket) {
        let mut state = self.0.lock();
        state.receiving.waiting -= 1;
        if self.0.hands_over() {
            self.0.part(state, ticket);
        }
    }

    fn claimed(&self, ticket: Ticket) -> Option<Begun> {
        self.0.claimed(ticket)
    }
}

fn join<'q>(place: &mut Option<Place<'q>>, queue: &'q WaitQueue, waiter: &Waiter) -> Ticket {
    let mut line = queue.lock();
    match place {
        Some(place) => {
            place.rejoin(&mut line, waiter.clone());
            place.ticket()
        }
        None => {
            let new = Place::join(queue, &mut line, waiter.clone(), 1);
            let ticket = new.ticket();
            *place = Some(new);
            ticket
        }
    }
}

/// A half, and its thread's place in line once it waits there.
pub(crate) struct Standing<'q> {
    half: &'q dyn Half,
    place: Option<Place<'q>>,
}

impl<'q> Standing<'q> {
    pub(crate) fn new(half: &'q dyn Half) -> Self {
        Self { half, place: None }
    }

    /// Leaves with what it came for.
    fn settle(&mut self) {
        let Some(place) = self.place.take() else {
            return;
        };
        self.half.leave(place.ticket());
        if let Some(queue) = self.half.queue() {
            let mut line: Line<'_> = queue.lock();
            place.settle(&mut line);
        }
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            self.half.leave(place.ticket());
        }
    }
}

/// Begins the operation of one of them, waiting as `attempt` says: which, and what was begun. `first` says where to
/// begin to look.
pub(crate) fn wait(
    halves: &mut [Standing<'_>],
    first: usize,
    attempt: &mut Attempt,
) -> Result<(usize, Begun), GaveUp> {
    let word = halves
        .iter()
        .any(|standing| standing.half.meets())
        .then(Meeting::new);
    let deadline = attempt.deadline();
    loop {
        let waiter = attempt.prepare();
        let mut due = deadline;
        if let Some(word) = &word {
            word.open();
        }
        for (arm, standing) in halves.iter_mut().enumerate() {
            let word = word.as_ref().filter(|_| standing.half.meets());
            let word = word.map(|word| (word, arm));
            standing.half.stand(&mut standing.place, &waiter, word);
            due = due.into_iter().chain(standing.half.due()).min();
        }
        // What came while it was not in line yet; and its word may have been taken while it still stood in an old
        // place, where a call misses.
        let is_claimed = word.as_ref().is_some_and(|word| word.is_claimed());
        let is_ready = |standing: &Standing<'_>| standing.half.is_ready(word.as_ref());
        let ended = if is_claimed || halves.iter().any(is_ready) {
            Ok(())
        } else {
            attempt.set_deadline(due);
            attempt.wait(waiter, 0)
        };
        // A sender that has its word counts on it, so nothing else is begun before the word is back.
        let claimed = word.as_ref().and_then(|word| {
            let arm = word.close()?;
            let ticket = halves[arm].place.as_ref()?.ticket();
            Some((arm, halves[arm].half.claimed(ticket)?))
        });
        let begun = claimed.or_else(|| begin(halves, first, word.as_ref()));
        if let Some((arm, begun)) = begun {
            halves[arm].settle();
            if ended == Err(GaveUp::Interrupted) {
                attempt::keep_interrupt();
            }
            return Ok((arm, begun));
        }
        match ended {
            Err(GaveUp::Timeout) if due != deadline => {}
            ended => ended?,
        }
    }
}

/// Looks at each once, beginning with that one.
pub(crate) fn begin(
    halves: &[Standing<'_>],
    first: usize,
    own: Option<&Arc<Meeting>>,
) -> Option<(usize, Begun)> {
    let all = halves.len();
    (0..all)
        .map(|offset| (first + offset) % all)
        .find_map(|arm| Some((arm, halves[arm].half.begin(own)?)))
}
