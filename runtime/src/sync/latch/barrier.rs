//! [`Barrier`] in std's shape.

use std::fmt;

use parking_lot::Mutex;

use crate::event::{Operation, Subject};
use crate::park;
use crate::sync::raw::attempt::Attempt;
use crate::sync::wait_queue::{EVERYTHING, Place, WaitQueue};

/// [`std::sync::Barrier`] for virtual threads: a number of threads wait until all of them have come.
///
/// ```
/// use std::sync::Arc;
/// use vt_runtime::sync::Barrier;
/// use vt_runtime::thread;
///
/// let barrier = Arc::new(Barrier::new(3));
/// let threads: Vec<_> = (0..3)
///     .map(|_| {
///         let barrier = Arc::clone(&barrier);
///         thread::spawn(move || barrier.wait().is_leader())
///     })
///     .collect();
/// let leaders = threads.into_iter().map(|thread| thread.join().unwrap());
/// assert_eq!(leaders.filter(|leads| *leads).count(), 1);
/// ```
pub struct Barrier {
    size: usize,
    /// A leaf lock, taken before the queue's.
    state: Mutex<State>,
    queue: WaitQueue,
}

struct State {
    arrived: usize,
    /// Which round of arrivals this is.
    round: u64,
}

/// Tells one thread of each round that it is the leader.
pub struct BarrierWaitResult {
    is_leader: bool,
}

impl Barrier {
    /// A barrier for `n` threads; 0 and 1 let every thread through.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new(n: usize) -> Self {
        Self {
            size: n,
            state: Mutex::new(State {
                arrived: 0,
                round: 0,
            }),
            queue: WaitQueue::new(),
        }
    }

    /// Waits until all threads have come. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let mut state = self.state.lock();
        let round = state.round;
        state.arrived += 1;
        // vt-lint: allow(nested-lock) -- always in this order, and both are held for a few instructions
        let mut line = self.queue.lock();
        if state.arrived >= self.size {
            state.arrived = 0;
            state.round = round.wrapping_add(1);
            drop(state);
            line.choose_more(EVERYTHING).call();
            return BarrierWaitResult { is_leader: true };
        }
        let waiter = park::prepare();
        let mut epoch = waiter.epoch();
        let place = Place::join_for_notice(&self.queue, &mut line, waiter);
        drop(line);
        drop(state);
        let id = std::ptr::from_ref(self).addr() as u64;
        let subject = Subject {
            kind: "Barrier",
            name: None,
            id,
        };
        let mut attempt = Attempt::new(Operation::Latch).about(subject);
        loop {
            let ended = attempt.wait(epoch, 0);
            debug_assert_eq!(ended, Ok(()), "a wait without an end gave up");
            let state = self.state.lock();
            // vt-lint: allow(nested-lock) -- always in this order, and both are held for a few instructions
            line = self.queue.lock();
            if state.round != round {
                drop(state);
                place.settle(&mut line);
                return BarrierWaitResult { is_leader: false };
            }
            let waiter = park::prepare();
            epoch = waiter.epoch();
            place.rejoin(&mut line, waiter);
            drop(line);
        }
    }
}

impl BarrierWaitResult {
    /// True for exactly one thread of each round.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.is_leader
    }
}

impl std::panic::UnwindSafe for Barrier {}
impl std::panic::RefUnwindSafe for Barrier {}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult")
            .field("is_leader", &self.is_leader())
            .finish()
    }
}
