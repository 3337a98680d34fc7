//! What both halves of a channel share.
//!
//! **Invariant (leaf):** the state's lock is held for a few instructions; it is taken before the senders' queue,
//! and messages are dropped after it is released, because that is the user's code.
//!
//! **Invariant (one receiver):** there is only one, so waking it needs no queue and no token that others could
//! take over. Senders that wait for room are a queue with the wake rule.
//!
//! While the receiver waits, a sender puts its message into the receiver's [hand](super::hand), without the lock and past any bound:
//! it is received. Only what comes while nobody waits is queued.
//!
//! A channel with the bound 0 hands messages over: a sender puts its message down with its waiter and leaves
//! when the receiver has taken it. Messages are taken in order, so "taken" is a comparison of numbers.

use std::collections::VecDeque;
use std::sync::mpsc::{RecvTimeoutError, SendError, TryRecvError, TrySendError};

use super::hand::{Beside, Hand};
use crate::event::{Operation, Subject};
use crate::park::Waiter;
use crate::primitive::constant::{AtomicU64, Mutex, MutexGuard, Ordering};
use crate::sync::raw::attempt::{Attempt, GaveUp, keep_interrupt};
use crate::sync::wait_queue::{EVERYTHING, Place, WaitQueue};

/// See the module's documentation.
pub(crate) struct Channel<T> {
    hand: Hand<T>,
    senders: AtomicU64,
    state: Mutex<State<T>>,
    /// Those who wait for room.
    waiting_senders: WaitQueue,
    /// `None`: no limit.
    bound: Option<usize>,
}

struct State<T> {
    messages: VecDeque<Message<T>>,
    /// How many were sent and how many taken so far.
    sent: u64,
    taken: u64,
    /// How many wait for room.
    waiting: usize,
    receiver_is_gone: bool,
}

struct Message<T> {
    content: T,
    /// How many were sent before it.
    number: u64,
    /// Who waits until it is taken.
    sender: Option<Waiter>,
}

/// Why nothing was received.
#[derive(Debug)]
pub(crate) enum NotReceived {
    Disconnected,
    GaveUp,
}

impl<T> Channel<T> {
    pub(crate) fn new(bound: Option<usize>) -> Self {
        let state = State {
            messages: VecDeque::new(),
            sent: 0,
            taken: 0,
            waiting: 0,
            receiver_is_gone: false,
        };
        Self {
            hand: Hand::new(),
            senders: AtomicU64::new(1),
            state: Mutex::new(state),
            waiting_senders: WaitQueue::new(),
            bound,
        }
    }

    #[track_caller]
    fn attempt(&self) -> Attempt {
        let id = std::ptr::from_ref(self).addr() as u64;
        Attempt::new(Operation::Channel).about(Subject {
            kind: "channel",
            name: None,
            id,
        })
    }

    pub(crate) fn add_sender(&self) {
        // The one that is cloned keeps the count from reaching 0.
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn remove_sender(&self) {
        if self.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            let state = self.state.lock();
            wake(state, self.hand.announce_end());
        }
    }

    pub(crate) fn remove_receiver(&self) {
        let mut state = self.state.lock();
        state.receiver_is_gone = true;
        let last_wait = self.hand.withdraw();
        // Messages being handed over go back to their senders.
        let left = if self.bound == Some(0) {
            VecDeque::new()
        } else {
            std::mem::take(&mut state.messages)
        };
        let handing: Vec<Waiter> = state
            .messages
            .iter_mut()
            .filter_map(|message| message.sender.take())
            .collect();
        drop(state);
        for sender in handing {
            sender.wake();
        }
        self.waiting_senders.lock().choose_more(EVERYTHING).call();
        drop((left, self.hand.take(), last_wait));
    }

    /// Sends without waiting, on a channel without a limit.
    pub(crate) fn send(&self, content: T) -> Result<(), SendError<T>> {
        let Err(content) = self.hand.give(content) else {
            return Ok(());
        };
        let mut state = self.state.lock();
        if state.receiver_is_gone {
            drop(state);
            return Err(SendError(content));
        }
        state.push(content, None);
        self.announce(state);
        Ok(())
    }

    /// Sends if there is room, or for a handover, if the receiver waits.
    pub(crate) fn try_send(&self, content: T) -> Result<(), TrySendError<T>> {
        let Err(content) = self.hand.give(content) else {
            return Ok(());
        };
        let mut state = self.state.lock();
        if state.receiver_is_gone {
            drop(state);
            return Err(TrySendError::Disconnected(content));
        }
        if self
            .bound
            .is_some_and(|bound| state.messages.len() >= bound)
        {
            drop(state);
            return Err(TrySendError::Full(content));
        }
        state.push(content, None);
        self.announce(state);
        Ok(())
    }

    /// Sends, waiting for room or for the receiver to take it.
    #[inline]
    #[track_caller]
    pub(crate) fn send_waiting(&self, content: T) -> Result<(), SendError<T>> {
        match self.hand.give(content) {
            Ok(()) => Ok(()),
            Err(content) => self.send_by_queue(content),
        }
    }

    #[track_caller]
    fn send_by_queue(&self, content: T) -> Result<(), SendError<T>> {
        let bound = self.bound.unwrap_or(usize::MAX);
        let mut state = self.state.lock();
        if state.receiver_is_gone {
            drop(state);
            return Err(SendError(content));
        }
        if state.waiting == 0 && state.messages.len() < bound {
            state.push(content, None);
            self.announce(state);
            return Ok(());
        }
        if bound == 0 {
            self.hand_over(state, content)
        } else {
            self.send_when_there_is_room(state, content, bound)
        }
    }

    #[track_caller]
    fn send_when_there_is_room<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<T>>,
        content: T,
        bound: usize,
    ) -> Result<(), SendError<T>> {
        let mut attempt = self.attempt();
        let counted = Counted::new(self, &mut state);
        // vt-lint: allow(nested-lock) -- always in this order, and both are held for a few instructions
        let mut line = self.waiting_senders.lock();
        let waiter = attempt.prepare();
        let mut epoch = waiter.epoch();
        let place = Place::join(&self.waiting_senders, &mut line, waiter, 1);
        let mut was_called = false;
        loop {
            let may_send = was_called || line.is_first_able(Some(place.ticket()));
            if state.receiver_is_gone || (may_send && state.messages.len() < bound) {
                place.settle(&mut line);
                drop(line);
                counted.leave(&mut state);
                if state.receiver_is_gone {
                    drop(state);
                    return Err(SendError(content));
                }
                state.push(content, None);
                let room = self.room_for_waiting(&state);
                self.announce(state);
                self.call_senders(room);
                return Ok(());
            }
            drop(line);
            drop(state);
            let ended = attempt.wait(epoch, 0);
            debug_assert_eq!(ended, Ok(()), "a wait without an end gave up");
            was_called = true;
            state = self.state.lock();
            let waiter = attempt.prepare();
            epoch = waiter.epoch();
            // vt-lint: allow(nested-lock) -- always in this order, and both are held for a few instructions
            line = self.waiting_senders.lock();
            place.rejoin(&mut line, waiter);
        }
    }

    #[track_caller]
    fn hand_over(
        &self,
        mut state: MutexGuard<'_, State<T>>,
        content: T,
    ) -> Result<(), SendError<T>> {
        let mut attempt = self.attempt();
        let waiter = attempt.prepare();
        let mut epoch = waiter.epoch();
        let number = state.push(content, Some(waiter));
        self.announce(state);
        loop {
            let ended = attempt.wait(epoch, 0);
            debug_assert_eq!(ended, Ok(()), "a wait without an end gave up");
            let mut state = self.state.lock();
            if state.taken > number {
                return Ok(());
            }
            let place = state
                .messages
                .iter()
                .position(|message| message.number == number);
            let Some(index) = place else { return Ok(()) };
            if state.receiver_is_gone {
                let message = state.messages.remove(index);
                drop(state);
                return message.map_or(Ok(()), |message| Err(SendError(message.content)));
            }
            let waiter = attempt.prepare();
            epoch = waiter.epoch();
            state.messages[index].sender = Some(waiter);
        }
    }

    /// Receives without waiting.
    pub(crate) fn try_recv(&self) -> Result<T, TryRecvError> {
        if let Some(content) = self.hand.take() {
            return Ok(content);
        }
        match self.hand.beside() {
            Beside::Nothing => Err(TryRecvError::Empty),
            Beside::Queued => self.take_from_queue(),
            Beside::End => Err(TryRecvError::Disconnected),
        }
    }

    /// Receives, waiting as `how` says.
    ///
    /// The switch to another thread stands in the caller's own code: each return after it would be predicted wrongly.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn recv(&self, how: impl FnOnce(Attempt) -> Attempt) -> Result<T, NotReceived> {
        match self.try_recv() {
            Ok(content) => Ok(content),
            Err(TryRecvError::Disconnected) => Err(NotReceived::Disconnected),
            Err(TryRecvError::Empty) => self.recv_waiting(how(self.attempt())),
        }
    }

    #[inline(always)]
    fn recv_waiting(&self, mut attempt: Attempt) -> Result<T, NotReceived> {
        loop {
            let ended = match self.hand.begin(&attempt) {
                None => Ok(()),
                Some(epoch) => {
                    // Also if it unwinds.
                    let _held_out = HeldOut(&self.hand);
                    attempt.wait(epoch, 0)
                }
            };
            let received = self.try_recv();
            // A message that came with the deadline is still a message.
            if let (Ok(_) | Err(TryRecvError::Disconnected), Err(GaveUp::Interrupted)) =
                (&received, ended)
            {
                keep_interrupt();
            }
            match received {
                Ok(content) => return Ok(content),
                Err(TryRecvError::Disconnected) => return Err(NotReceived::Disconnected),
                Err(TryRecvError::Empty) => ended.map_err(|_| NotReceived::GaveUp)?,
            }
        }
    }

    /// Takes the next message of the queue and tells who waited for that.
    #[inline(never)]
    fn take_from_queue(&self) -> Result<T, TryRecvError> {
        let mut state = self.state.lock();
        let message = state.messages.pop_front();
        if state.messages.is_empty() {
            self.hand.nothing_queued();
        }
        let Some(message) = message else {
            debug_assert!(false, "only the receiver empties the queue");
            return Err(TryRecvError::Empty);
        };
        state.taken += 1;
        let room = self.room_for_waiting(&state);
        drop(state);
        if let Some(sender) = message.sender {
            sender.wake();
        }
        self.call_senders(room);
        Ok(message.content)
    }

    /// Something was put into the queue.
    fn announce(&self, state: MutexGuard<'_, State<T>>) {
        wake(state, self.hand.announce());
    }

    /// How many of those who wait for room there is room for.
    fn room_for_waiting(&self, state: &State<T>) -> usize {
        match self.bound {
            Some(bound) if state.waiting > 0 => bound.saturating_sub(state.messages.len()),
            _ => 0,
        }
    }

    fn call_senders(&self, room: usize) {
        if room > 0 {
            let chosen = self.waiting_senders.lock().choose(room as u64);
            chosen.call();
        }
    }
}

/// Wakes the receiver, if there is one to be woken, without the lock.
fn wake<T>(state: MutexGuard<'_, State<T>>, receiver: Option<Waiter>) {
    drop(state);
    if let Some(receiver) = receiver {
        receiver.wake();
    }
}

/// The receiver's hand while it is held out.
struct HeldOut<'a, T>(&'a Hand<T>);

impl<T> Drop for HeldOut<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Counts a sender that waits for room, also if it unwinds.
struct Counted<'a, T> {
    channel: &'a Channel<T>,
    counts: bool,
}

impl<'a, T> Counted<'a, T> {
    fn new(channel: &'a Channel<T>, state: &mut State<T>) -> Self {
        state.waiting += 1;
        Self {
            channel,
            counts: true,
        }
    }

    fn leave(mut self, state: &mut State<T>) {
        state.waiting -= 1;
        self.counts = false;
    }
}

impl<T> Drop for Counted<'_, T> {
    fn drop(&mut self) {
        if self.counts {
            self.channel.state.lock().waiting -= 1;
        }
    }
}

impl<T> State<T> {
    /// Puts a message down and returns its number.
    fn push(&mut self, content: T, sender: Option<Waiter>) -> u64 {
        let number = self.sent;
        self.sent += 1;
        self.messages.push_back(Message {
            content,
            number,
            sender,
        });
        number
    }
}

impl NotReceived {
    pub(crate) fn timed(self) -> RecvTimeoutError {
        match self {
            Self::Disconnected => RecvTimeoutError::Disconnected,
            Self::GaveUp => RecvTimeoutError::Timeout,
        }
    }
}
