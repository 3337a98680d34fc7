//! [`Select`]: waiting for the first of several channel operations that is possible.

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvError, SendError};
use std::time::Duration;

use super::buffer::Begun;
use super::error::{SelectTimeoutError, TrySelectError};
use super::standing::{Half, Standing, begin, wait};
use super::{Receiver, Sender};
use crate::event::Operation;
use crate::sync::Interrupted;
use crate::sync::raw::attempt::{self, Attempt, GaveUp};

/// Several channel operations, of which the first that is possible is done; [`select!`](super::select!) is the short
/// form.
///
/// An operation is possible, too, when the other half of its channel is gone: it then ends with its error. If several
/// are possible, the choice among them is not always the first. An operation that was not chosen leaves no trace: no
/// message is taken, and a wake-up that came for it goes to another thread that waits there.
///
/// ```
/// use vt_runtime::sync::channel::{self, Select};
/// use vt_runtime::thread;
///
/// let (numbers, from_numbers) = channel::unbounded();
/// let (words, from_words) = channel::unbounded();
/// thread::spawn(move || numbers.send(7));
/// # let _words = words.clone();
///
/// let mut select = Select::new();
/// let number = select.recv(&from_numbers);
/// let word = select.recv(&from_words);
/// let chosen = select.select();
/// match chosen.index() {
///     i if i == number => assert_eq!(chosen.recv(&from_numbers), Ok(7)),
///     i if i == word => println!("{:?}", chosen.recv(&from_words)),
///     _ => unreachable!(),
/// }
/// # words.send("x").unwrap();
/// ```
#[derive(Default)]
pub struct Select<'a> {
    /// With the index that names each.
    halves: Vec<(usize, &'a dyn Half)>,
    next: usize,
}

/// An operation that [`Select`] has chosen; it is finished by [`send`](Self::send) or [`recv`](Self::recv). Dropped
/// before that, it gives back what it holds, as if it had not been chosen.
#[must_use = "the chosen operation is still to be finished"]
pub struct SelectedOperation<'a> {
    half: &'a dyn Half,
    begun: Begun,
    index: usize,
}

/// Where to begin to look, so that the first of many is not always preferred. Races only make it more random.
static TURN: AtomicUsize = AtomicUsize::new(0);

impl<'a> Select<'a> {
    /// No operation yet.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds receiving from that channel; returns its index.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn recv<T>(&mut self, receiver: &'a Receiver<T>) -> usize {
        self.add(receiver.half())
    }

    /// Adds sending on that channel; returns its index. The message is named when it was chosen.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn send<T>(&mut self, sender: &'a Sender<T>) -> usize {
        self.add(sender.half())
    }

    fn add(&mut self, half: &'a dyn Half) -> usize {
        let index = self.next;
        self.next += 1;
        self.halves.push((index, half));
        index
    }

    /// Takes the operation with that index away.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn remove(&mut self, index: usize) {
        let position = self.halves.iter().position(|half| half.0 == index);
        let position = position.unwrap_or_else(|| panic!("no operation has the index {index}"));
        self.halves.remove(position);
    }

    /// Chooses an operation, waiting until one is possible; for ever if there is none. An interrupt does not end the
    /// wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned.
    #[track_caller]
    pub fn select(&mut self) -> SelectedOperation<'a> {
        match self.choose(Attempt::new(Operation::Channel)) {
            Ok(chosen) => chosen,
            Err(gave_up) => unreachable!("a wait without an end gave up: {gave_up:?}"),
        }
    }

    /// [`select`](Self::select) that an interrupt ends.
    ///
    /// # Pinning
    ///
    /// As `select`.
    ///
    /// # Errors
    ///
    /// [`Interrupted`] if the thread is interrupted first; its flag is clear then.
    #[track_caller]
    pub fn select_interruptibly(&mut self) -> Result<SelectedOperation<'a>, Interrupted> {
        self.choose(Attempt::new(Operation::Channel).interruptible())
            .map_err(|_| Interrupted)
    }

    /// [`select`](Self::select) for at most `timeout`. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// As `select`.
    ///
    /// # Errors
    ///
    /// If none was possible in that time.
    #[track_caller]
    pub fn select_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        let attempt = Attempt::new(Operation::Channel).until(attempt::deadline_in(timeout));
        self.choose(attempt).map_err(|_| SelectTimeoutError)
    }

    /// Chooses an operation that is possible now.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// If none is.
    pub fn try_select(&mut self) -> Result<SelectedOperation<'a>, TrySelectError> {
        let standings = self.standings();
        let chosen = begin(&standings, turn(), None);
        let (arm, begun) = chosen.ok_or(TrySelectError)?;
        Ok(self.selected(arm, begun))
    }

    fn choose(&mut self, mut attempt: Attempt) -> Result<SelectedOperation<'a>, GaveUp> {
        let mut standings = self.standings();
        let first = turn();
        let (arm, begun) = match begin(&standings, first, None) {
            Some(begun) => begun,
            None => wait(&mut standings, first, &mut attempt)?,
        };
        Ok(self.selected(arm, begun))
    }

    fn standings(&self) -> Vec<Standing<'a>> {
        let stand = |half: &(usize, &'a dyn Half)| Standing::new(half.1);
        self.halves.iter().map(stand).collect()
    }

    fn selected(&self, arm: usize, begun: Begun) -> SelectedOperation<'a> {
        let (index, half) = self.halves[arm];
        SelectedOperation { half, begun, index }
    }
}

fn turn() -> usize {
    let turn = TURN.load(Ordering::Relaxed);
    TURN.store(turn.wrapping_add(1), Ordering::Relaxed);
    turn
}

impl<'a> SelectedOperation<'a> {
    /// Which operation it is.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Finishes a sending operation.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// The message, if all receivers are gone.
    ///
    /// # Panics
    ///
    /// If another operation was chosen.
    #[track_caller]
    pub fn send<T>(self, sender: &Sender<T>, message: T) -> Result<(), SendError<T>> {
        let begun = self.finish(sender.half());
        sender.finish(begun, message).map_err(SendError)
    }

    /// Finishes a receiving operation.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Errors
    ///
    /// If no message is left and no sender.
    ///
    /// # Panics
    ///
    /// If another operation was chosen.
    #[track_caller]
    pub fn recv<T>(self, receiver: &Receiver<T>) -> Result<T, RecvError> {
        let begun = self.finish(receiver.half());
        receiver.finish(begun).ok_or(RecvError)
    }

    #[track_caller]
    fn finish(self, half: &dyn Half) -> Begun {
        assert!(
            std::ptr::addr_eq(self.half, half),
            "the operation with the index {} was chosen, not that one",
            self.index
        );
        ManuallyDrop::new(self).begun
    }
}

impl Drop for SelectedOperation<'_> {
    fn drop(&mut self) {
        self.half.withdraw(self.begun);
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Select")
            .field("operations", &self.halves.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelectedOperation")
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
