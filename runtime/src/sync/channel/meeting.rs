//! Handing over: channels with the bound 0, where a message goes from thread to thread.
//!
//! ```text
//!   send(message)        puts it on offer and waits until a receiver takes it
//!   try_send, select     need a receiver that waits: its word is taken (it is claimed), then the message follows
//! ```
//!
//! A receiver may wait for several channels at once, and only one sender may have its word: a [`Meeting`] is one atomic
//! for all the channels it waits for.
//!
//! **Invariant (one word):** a meeting is open only while its receiver waits. Exactly one of its receiver, who closes
//! it, and the senders, who claim it under their channel's lock, succeeds.
//!
//! **Invariant (wake rule):** a message given to a receiver that got stranded before it ran can be taken by
//! another: its call was passed on, which marks its place, and whoever receives looks for that.

use std::sync::Arc;
use std::sync::mpsc::TrySendError;

use super::buffer::{Begun, Buffer, State};
use crate::event::Operation;
use crate::park::Waiter;
use crate::primitive::constant::{AtomicU64, MutexGuard, Ordering};
use crate::sync::raw::attempt::Attempt;
use crate::sync::wait_queue::Ticket;

/// Its receiver is not waiting.
const CLOSED: u64 = 0;
/// A sender may claim it.
const OPEN: u64 = 1;
/// Claimed, for the first of its channels; the next for the second one.
const CLAIMED: u64 = 2;

/// The word of a receiver that waits for one or several channels.
pub(crate) struct Meeting(AtomicU64);

/// A receiver that waits and can be claimed.
pub(super) struct Open {
    pub(super) ticket: Ticket,
    pub(super) waiter: Waiter,
    pub(super) meeting: Arc<Meeting>,
    /// Which of the channels it waits for this is.
    pub(super) arm: u64,
}

/// A message for a receiver that was claimed.
pub(super) struct Claim<T> {
    ticket: Ticket,
    /// `None`: its sender is still making it.
    content: Option<T>,
    /// The receiver, while it waits for that.
    receiver: Option<Waiter>,
}

/// Why a message was not sent.
#[derive(Debug)]
pub(crate) enum NotSent<T> {
    Disconnected(T),
    GaveUp(T),
}

impl Meeting {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(CLOSED)))
    }

    /// Receiver: it is about to wait.
    pub(super) fn open(&self) {
        self.0.store(OPEN, Ordering::Release);
    }

    /// Receiver: it goes on. `Some`: it was claimed for that one of its channels.
    pub(super) fn close(&self) -> Option<usize> {
        let closed = self
            .0
            .compare_exchange(OPEN, CLOSED, Ordering::AcqRel, Ordering::Acquire);
        match closed {
            Ok(_) | Err(CLOSED | OPEN) => None,
            Err(claimed) => {
                self.0.store(CLOSED, Ordering::Release);
                Some((claimed - CLAIMED) as usize)
            }
        }
    }

    /// Receiver: has a sender its word?
    pub(super) fn is_claimed(&self) -> bool {
        self.0.load(Ordering::Acquire) >= CLAIMED
    }

    fn claim(&self, arm: u64) -> bool {
        self.0
            .compare_exchange(OPEN, CLAIMED + arm, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}

impl<T> Buffer<T> {
    /// Gives a message to a receiver that waits and can run.
    pub(super) fn hand_to_waiting(
        &self,
        mut state: MutexGuard<'_, State<T>>,
        content: T,
    ) -> Result<(), TrySendError<T>> {
        let mut content = Some(content);
        let met = state.claim(&mut content, None);
        drop(state);
        if let Some(ticket) = met {
            self.receivers.lock().choose_that(ticket).call();
        }
        content.map_or(Ok(()), |content| Err(TrySendError::Full(content)))
    }

    /// The message follows that was promised to a receiver.
    pub(super) fn keep_word(
        &self,
        mut state: MutexGuard<'_, State<T>>,
        ticket: Ticket,
        content: T,
    ) -> Result<(), T> {
        let index = state.claims.iter().position(|claim| claim.ticket == ticket);
        match index {
            Some(index) => {
                let claim = &mut state.claims[index];
                claim.content = Some(content);
                let receiver = claim.receiver.take();
                drop(state);
                match receiver {
                    Some(receiver) => drop(receiver.wake()),
                    None => self.receivers.lock().choose_that(ticket).call(),
                }
                Ok(())
            }
            // The receiver unwinds: the next one may have it.
            None if state.receiving.handles > 0 => {
                state.push(content, None);
                self.call_receivers(state);
                Ok(())
            }
            None => {
                drop(state);
                Err(content)
            }
        }
    }

    /// The message that was promised to a receiver does not come.
    pub(super) fn break_word(&self, mut state: MutexGuard<'_, State<T>>, ticket: Ticket) {
        let index = state
            .claims
            .iter()
            .position(|claim| claim.ticket == ticket && claim.content.is_none());
        let receiver = index.and_then(|index| state.claims.remove(index).receiver);
        drop(state);
        match receiver {
            Some(receiver) => drop(receiver.wake()),
            None => self.receivers.lock().choose_that(ticket).call(),
        }
    }

    /// Receiver that was claimed: its message, once it is there; `None` if another has it or it does not come.
    pub(super) fn claimed(&self, ticket: Ticket) -> Option<Begun> {
        loop {
            let mut state = self.lock();
            let index = state
                .claims
                .iter()
                .position(|claim| claim.ticket == ticket)?;
            if let Some(content) = state.claims[index].content.take() {
                state.claims.remove(index);
                drop(state);
                return Some(self.set_aside(content));
            }
            let mut attempt = Attempt::new(Operation::Channel);
            let waiter = attempt.prepare();
            let epoch = waiter.epoch();
            state.claims[index].receiver = Some(waiter);
            drop(state);
            let ended = attempt.wait(epoch, 0);
            debug_assert_eq!(ended, Ok(()), "a wait without an end gave up");
        }
    }

    /// Takes a message whose receiver got stranded before it could.
    pub(super) fn take_unclaimed(&self, state: &mut State<T>) -> Option<T> {
        let index = self.unclaimed(state)?;
        state.claims.remove(index).content
    }

    /// Where there is such a message.
    pub(super) fn unclaimed(&self, state: &State<T>) -> Option<usize> {
        if state.claims.is_empty() {
            return None;
        }
        let line = self.receivers.lock();
        state
            .claims
            .iter()
            .position(|claim| claim.content.is_some() && line.is_skipped(claim.ticket))
    }

    /// Receiver that leaves, perhaps unwinding: nobody can meet it there any more, and what it was given goes to the
    /// next one.
    pub(super) fn part(&self, mut state: MutexGuard<'_, State<T>>, ticket: Ticket) {
        state.close(ticket);
        let index = state.claims.iter().position(|claim| claim.ticket == ticket);
        let claim = index.map(|index| state.claims.remove(index));
        if let Some(content) = claim.and_then(|claim| claim.content) {
            // It is older than what is on offer.
            state.put_first(content);
            self.call_receivers(state);
        }
    }

    /// Sends, waiting until a receiver takes the message.
    pub(crate) fn hand_over(&self, content: T, mut attempt: Attempt) -> Result<(), NotSent<T>> {
        let mut state = self.lock();
        if state.receiving.handles == 0 {
            drop(state);
            return Err(NotSent::Disconnected(content));
        }
        let waiter = attempt.prepare();
        let mut epoch = waiter.epoch();
        let key = state.push(content, Some(waiter));
        let offer = Offer { buffer: self, key };
        self.call_receivers(state);
        loop {
            let ended = attempt.wait(epoch, 0);
            let mut state = self.lock();
            let Some(index) = state.index(key) else {
                std::mem::forget(offer);
                return Ok(());
            };
            if ended.is_err() || state.receiving.handles == 0 {
                let message = state.messages.remove(index);
                drop(state);
                std::mem::forget(offer);
                let content = message.map(|message| message.content);
                return content.map_or(Ok(()), |content| {
                    Err(match ended {
                        Err(_) => NotSent::GaveUp(content),
                        Ok(()) => NotSent::Disconnected(content),
                    })
                });
            }
            let waiter = attempt.prepare();
            epoch = waiter.epoch();
            state.messages[index].sender = Some(waiter);
        }
    }
}

/// A message on offer; taken back if its sender unwinds.
struct Offer<'a, T> {
    buffer: &'a Buffer<T>,
    key: u64,
}

impl<T> Drop for Offer<'_, T> {
    fn drop(&mut self) {
        let mut state = self.buffer.lock();
        let message = state
            .index(self.key)
            .and_then(|index| state.messages.remove(index));
        drop(state);
        drop(message);
    }
}

impl<T> State<T> {
    fn index(&self, key: u64) -> Option<usize> {
        self.messages.iter().position(|message| message.key == key)
    }

    /// Claims the first receiver that can run and is not `own`. It gets `content`, or what comes later if that is
    /// empty.
    pub(super) fn claim(
        &mut self,
        content: &mut Option<T>,
        own: Option<&Arc<Meeting>>,
    ) -> Option<Ticket> {
        while let Some(index) = self.claimable(own) {
            let open = self.open.remove(index);
            if open.meeting.claim(open.arm) {
                self.claims.push(Claim {
                    ticket: open.ticket,
                    content: content.take(),
                    receiver: None,
                });
                return Some(open.ticket);
            }
        }
        None
    }

    /// The first receiver that waits, can run and is not `own`. It may be claimed elsewhere.
    pub(super) fn claimable(&self, own: Option<&Arc<Meeting>>) -> Option<usize> {
        let is_own = |open: &Open| own.is_some_and(|own| Arc::ptr_eq(own, &open.meeting));
        self.open.iter().position(|open| {
            !is_own(open) && open.waiter.is_current() && !open.waiter.is_stranded()
        })
    }

    /// Nobody can claim that receiver here any more.
    pub(super) fn close(&mut self, ticket: Ticket) {
        self.open.retain(|open| open.ticket != ticket);
    }
}
