//! What both halves of a channel share: the messages, and who waits for them or for room.
//!
//! Waiting is by hints, as everywhere: who is called looks again. Two steps serve the waits on several channels:
//! `begin_*` takes a message aside or room for one, `finish_*` uses it, `withdraw` gives it back.
//!
//! **Invariant (leaf):** the state's lock is held for a few instructions; it is taken before a queue's, and
//! messages are dropped after it is released, because that is the user's code.
//!
//! **Invariant (no lost wake-up):** who waits has counted itself under the state's lock and looked after that; who
//! brings a message, room or the end does so under that lock, and then calls as many as there is for.
//!
//! With the bound 0 messages are handed over: see [`super::meeting`].

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{TryRecvError, TrySendError};
use std::time::Instant;

use super::meeting::{Claim, Meeting, Open};
use crate::event::{Operation, Subject};
use crate::park::{self, Waiter};
use crate::primitive::constant::{Mutex, MutexGuard};
use crate::sync::raw::attempt::Attempt;
use crate::sync::wait_queue::{EVERYTHING, Ticket, WaitQueue};

/// See the module's documentation.
pub(crate) struct Buffer<T> {
    state: Mutex<State<T>>,
    pub(super) receivers: WaitQueue,
    pub(super) senders: WaitQueue,
    pub(super) bound: Option<usize>,
}

pub(super) struct State<T> {
    pub(super) messages: VecDeque<Message<T>>,
    /// Messages that were begun to be received, by their key.
    aside: Vec<(u64, T)>,
    /// Room that was begun to be sent into.
    promised: usize,
    /// Names messages.
    next_key: u64,
    pub(super) sending: Half,
    pub(super) receiving: Half,
    /// Receivers that wait, and messages promised to them. Only with the bound 0.
    pub(super) open: Vec<Open>,
    pub(super) claims: Vec<Claim<T>>,
}

/// One half of a channel.
#[derive(Default)]
pub(super) struct Half {
    /// How many handles there are.
    pub(super) handles: usize,
    /// How many threads stand in its queue.
    pub(super) waiting: usize,
}

pub(super) struct Message<T> {
    pub(super) content: T,
    pub(super) key: u64,
    /// Who waits until it is taken.
    pub(super) sender: Option<Waiter>,
}

/// An operation that cannot fail to be finished any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// A message was taken aside.
    Message(u64),
    /// There is room for a message.
    Room,
    /// That receiver waits for the message.
    Met(Ticket),
    /// The clock's message, which was due then.
    Moment(Instant),
    /// The other half is gone: finishing is an error.
    Closed,
}

impl<T> Buffer<T> {
    pub(crate) fn new(bound: Option<usize>) -> Self {
        let state = State {
            messages: VecDeque::new(),
            aside: Vec::new(),
            promised: 0,
            next_key: 0,
            sending: Half::default(),
            receiving: Half::default(),
            open: Vec::new(),
            claims: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            receivers: WaitQueue::new(),
            senders: WaitQueue::new(),
            bound,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }

    /// Are messages handed over from thread to thread?
    pub(super) fn hands_over(&self) -> bool {
        self.bound == Some(0)
    }

    #[track_caller]
    pub(crate) fn attempt(&self) -> Attempt {
        Attempt::new(Operation::Channel).about(Subject {
            kind: "channel",
            name: None,
            id: std::ptr::from_ref(self).addr() as u64,
        })
    }

    pub(crate) fn add_sender(&self) {
        self.lock().sending.handles += 1;
    }

    pub(crate) fn add_receiver(&self) {
        self.lock().receiving.handles += 1;
    }

    pub(crate) fn remove_sender(&self) {
        let last = {
            let mut state = self.lock();
            state.sending.handles -= 1;
            state.sending.handles == 0
        };
        if last {
            self.receivers.lock().choose_more(EVERYTHING).call();
        }
    }

    pub(crate) fn remove_receiver(&self) {
        let mut state = self.lock();
        state.receiving.handles -= 1;
        if state.receiving.handles > 0 {
            return;
        }
        // Messages being handed over go back to their senders.
        let handing: Vec<Waiter> = state
            .messages
            .iter_mut()
            .filter_map(|message| message.sender.take())
            .collect();
        let left = if handing.is_empty() {
            std::mem::take(&mut state.messages)
        } else {
            VecDeque::new()
        };
        drop(state);
        for sender in handing {
            sender.wake();
        }
        self.senders.lock().choose_more(EVERYTHING).call();
        drop(left);
    }

    /// How many messages are there to be received.
    pub(crate) fn len(&self) -> usize {
        self.lock().messages.len()
    }

    /// How many messages it can hold, `None` without a limit.
    pub(crate) fn capacity(&self) -> Option<usize> {
        self.bound
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bound
            .is_some_and(|bound| self.lock().filled() >= bound)
    }

    /// Sends if there is room; for a handover, if a receiver waits.
    pub(crate) fn try_send(&self, content: T) -> Result<(), TrySendError<T>> {
        let mut state = self.lock();
        if state.receiving.handles == 0 {
            drop(state);
            return Err(TrySendError::Disconnected(content));
        }
        if self.hands_over() {
            return self.hand_to_waiting(state, content);
        }
        if !state.has_room(self.bound) {
            drop(state);
            return Err(TrySendError::Full(content));
        }
        state.push(content, None);
        self.call_receivers(state);
        Ok(())
    }

    /// Receives if there is a message.
    pub(crate) fn try_recv(&self) -> Result<T, TryRecvError> {
        match self.take(self.lock()) {
            Ok(content) => Ok(content),
            Err(state) if state.sending.handles == 0 => Err(TryRecvError::Disconnected),
            Err(_) => Err(TryRecvError::Empty),
        }
    }

    /// Takes a message aside.
    pub(super) fn begin_recv(&self) -> Option<Begun> {
        match self.take(self.lock()) {
            Ok(content) => Some(self.set_aside(content)),
            Err(state) if state.sending.handles == 0 => Some(Begun::Closed),
            Err(_) => None,
        }
    }

    pub(super) fn can_recv(&self) -> bool {
        let state = self.lock();
        !state.messages.is_empty() || state.sending.handles == 0 || self.unclaimed(&state).is_some()
    }

    pub(super) fn can_send(&self, own: Option<&Arc<Meeting>>) -> bool {
        let state = self.lock();
        let has_room = if self.hands_over() {
            state.claimable(own).is_some()
        } else {
            state.has_room(self.bound)
        };
        has_room || state.receiving.handles == 0
    }

    pub(super) fn set_aside(&self, content: T) -> Begun {
        let mut state = self.lock();
        let key = state.key();
        state.aside.push((key, content));
        Begun::Message(key)
    }

    /// The message of [`begin_recv`](Self::begin_recv), `None` if all senders are gone.
    pub(crate) fn finish_recv(&self, begun: Begun) -> Option<T> {
        let Begun::Message(key) = begun else {
            return None;
        };
        let mut state = self.lock();
        let index = state.aside.iter().position(|aside| aside.0 == key)?;
        Some(state.aside.swap_remove(index).1)
    }

    /// Takes room for a message, or the word of a receiver that waits for it and is not `own`.
    pub(super) fn begin_send(&self, own: Option<&Arc<Meeting>>) -> Option<Begun> {
        let mut state = self.lock();
        if state.receiving.handles == 0 {
            return Some(Begun::Closed);
        }
        if self.hands_over() {
            return state.claim(&mut None, own).map(Begun::Met);
        }
        if !state.has_room(self.bound) {
            return None;
        }
        state.promised += 1;
        Some(Begun::Room)
    }

    /// Sends into what [`begin_send`](Self::begin_send) took; gives the message back if all receivers are gone.
    pub(crate) fn finish_send(&self, begun: Begun, content: T) -> Result<(), T> {
        let mut state = self.lock();
        match begun {
            Begun::Room => state.promised -= 1,
            Begun::Met(ticket) => return self.keep_word(state, ticket, content),
            Begun::Closed | Begun::Message(_) | Begun::Moment(_) => return Err(content),
        }
        if state.receiving.handles == 0 {
            drop(state);
            return Err(content);
        }
        state.push(content, None);
        self.call_receivers(state);
        Ok(())
    }

    /// Gives back what was begun and will not be finished.
    pub(crate) fn withdraw(&self, begun: Begun) {
        let mut state = self.lock();
        match begun {
            Begun::Closed | Begun::Moment(_) => {}
            Begun::Room => {
                state.promised -= 1;
                self.call_senders(state);
            }
            Begun::Met(ticket) => self.break_word(state, ticket),
            Begun::Message(key) => {
                let Some(index) = state.aside.iter().position(|aside| aside.0 == key) else {
                    return;
                };
                let (_, content) = state.aside.swap_remove(index);
                state.put_first(content);
                self.call_receivers(state);
            }
        }
    }

    /// Takes the next message and tells who waited for that; gives the lock back if there is none.
    fn take<'a>(&self, mut state: MutexGuard<'a, State<T>>) -> Result<T, MutexGuard<'a, State<T>>> {
        // What was given to somebody who cannot run came before what is on offer.
        if let Some(content) = self.take_unclaimed(&mut state) {
            return Ok(content);
        }
        let Some(message) = state.messages.pop_front() else {
            return Err(state);
        };
        if let Some(sender) = message.sender {
            drop(state);
            sender.wake();
        } else {
            self.call_senders(state);
        }
        Ok(message.content)
    }

    /// After a message came: calls as many receivers as there are messages.
    pub(super) fn call_receivers(&self, state: MutexGuard<'_, State<T>>) {
        let (waiting, messages) = (state.receiving.waiting, state.messages.len());
        drop(state);
        if waiting > 0 && messages > 0 {
            let chosen = self.receivers.lock().choose(messages as u64);
            chosen.call();
        }
    }

    /// After room came: calls as many senders as there is room for.
    pub(super) fn call_senders(&self, state: MutexGuard<'_, State<T>>) {
        let room = match self.bound {
            Some(0) => state.open.len(),
            Some(bound) => bound.saturating_sub(state.filled()),
            None => 0,
        };
        let waiting = state.sending.waiting;
        drop(state);
        if waiting > 0 && room > 0 {
            // Who sends and receives on one channel at once does not wait for itself.
            let chosen = self.senders.lock().choose_others(park::me(), room as u64);
            chosen.call();
        }
    }
}

impl<T> State<T> {
    fn key(&mut self) -> u64 {
        self.next_key += 1;
        self.next_key
    }

    fn filled(&self) -> usize {
        self.messages.len() + self.promised
    }

    fn has_room(&self, bound: Option<usize>) -> bool {
        bound.is_none_or(|bound| self.filled() < bound)
    }

    /// Puts a message down before all others.
    pub(super) fn put_first(&mut self, content: T) {
        let key = self.key();
        self.messages.push_front(Message {
            content,
            key,
            sender: None,
        });
    }

    /// Puts a message down and returns its key.
    pub(super) fn push(&mut self, content: T, sender: Option<Waiter>) -> u64 {
        let key = self.key();
        self.messages.push_back(Message {
            content,
            key,
            sender,
        });
        key
    }
}
