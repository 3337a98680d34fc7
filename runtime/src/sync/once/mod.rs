//! One-time initialisation in std's shapes: a thread that waits for another's initialiser unmounts.

mod lazy_lock;
mod once_lock;

use std::fmt;

pub use lazy_lock::LazyLock;
pub use once_lock::OnceLock;

use crate::event::{Operation, Subject};
use crate::park;
use crate::primitive::constant::{AtomicU64, Ordering};
use crate::sync::raw::attempt::Attempt;
use crate::sync::wait_queue::{EVERYTHING, Place, WaitQueue};

/// Nobody has run it.
const NEW: u64 = 0;
/// It panicked.
const POISONED: u64 = 1;
/// It has run.
const COMPLETE: u64 = 2;
// Every other value is the thread that runs it: its id, turned left by 4, with this bit to keep it apart.
const RUNNING: u64 = 1 << 2;

/// [`std::sync::Once`] for virtual threads.
///
/// ```
/// use vt_runtime::sync::Once;
///
/// static START: Once = Once::new();
/// START.call_once(|| println!("once"));
/// START.call_once(|| unreachable!());
/// assert!(START.is_completed());
/// ```
pub struct Once {
    state: AtomicU64,
    queue: WaitQueue,
}

/// What the closure of [`Once::call_once_force`] learns.
pub struct OnceState {
    poisoned: bool,
}

impl Once {
    /// One that has not run.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "std's has none either")]
    pub const fn new() -> Self {
        Self {
            state: AtomicU64::new(NEW),
            queue: WaitQueue::new(),
        }
    }

    /// Runs `f` if nothing has run here yet; waits if another thread is running its closure. An interrupt does
    /// not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned. `f` may wait, too.
    ///
    /// # Panics
    ///
    /// If an earlier closure panicked, or `f` calls this on the same `Once`.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        if !self.is_completed() {
            let mut f = Some(f);
            self.run(false, &mut |_| {
                if let Some(f) = f.take() {
                    f();
                }
            });
        }
    }

    /// [`call_once`](Self::call_once) that runs also after a closure has panicked.
    ///
    /// # Pinning
    ///
    /// As `call_once`.
    ///
    /// # Panics
    ///
    /// If `f` calls this on the same `Once`.
    #[inline]
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        if !self.is_completed() {
            let mut f = Some(f);
            self.run(true, &mut |state| {
                if let Some(f) = f.take() {
                    f(state);
                }
            });
        }
    }

    /// Has a closure run to its end?
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[inline]
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.state.load(Ordering::Acquire) == COMPLETE
    }

    /// Waits until a closure has run to its end. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// As [`call_once`](Self::call_once).
    ///
    /// # Panics
    ///
    /// If a closure panicked.
    #[track_caller]
    pub fn wait(&self) {
        if self.wait_while(|state| state != POISONED && state != COMPLETE) == POISONED {
            poisoned();
        }
    }

    /// [`wait`](Self::wait) that waits on also after a closure has panicked, until another has run to its end.
    ///
    /// # Pinning
    ///
    /// As [`call_once`](Self::call_once).
    #[track_caller]
    pub fn wait_force(&self) {
        self.wait_while(|state| state != COMPLETE);
    }

    #[cold]
    #[track_caller]
    fn run(&self, ignore_poison: bool, f: &mut dyn FnMut(&OnceState)) {
        let me = park::me().rotate_left(4) | RUNNING;
        loop {
            match self.state.load(Ordering::Acquire) {
                COMPLETE => return,
                POISONED if !ignore_poison => poisoned(),
                state @ (NEW | POISONED) => {
                    let claim = self.state.compare_exchange(
                        state,
                        me,
                        Ordering::Acquire,
                        Ordering::Acquire,
                    );
                    if claim.is_ok() {
                        let mut outcome = Outcome {
                            once: self,
                            state: POISONED,
                        };
                        f(&OnceState {
                            poisoned: state == POISONED,
                        });
                        outcome.state = COMPLETE;
                        return;
                    }
                }
                runner if runner == me => {
                    panic!("deadlock: the initialiser of a once cell waits for itself")
                }
                runner => {
                    self.wait_while(|state| state == runner);
                }
            }
        }
    }

    /// Waits while the state is like that; returns the first that is not.
    #[track_caller]
    fn wait_while(&self, goes_on: impl Fn(u64) -> bool) -> u64 {
        let state = self.state.load(Ordering::Acquire);
        if !goes_on(state) {
            return state;
        }
        let id = std::ptr::from_ref(self).addr() as u64;
        let mut attempt = Attempt::new(Operation::Once).about(Subject {
            kind: "Once",
            name: None,
            id,
        });
        let mut line = self.queue.lock();
        let waiter = park::prepare();
        let mut epoch = waiter.epoch();
        let place = Place::join_for_notice(&self.queue, &mut line, waiter);
        loop {
            let state = self.state.load(Ordering::Acquire);
            if !goes_on(state) {
                place.settle(&mut line);
                return state;
            }
            drop(line);
            let runner = if state > COMPLETE {
                (state & !RUNNING).rotate_right(4)
            } else {
                0
            };
            let ended = attempt.wait(epoch, runner);
            debug_assert_eq!(ended, Ok(()), "a wait without an end gave up");
            let waiter = park::prepare();
            epoch = waiter.epoch();
            line = self.queue.lock();
            place.rejoin(&mut line, waiter);
        }
    }
}

#[cold]
#[track_caller]
fn poisoned() -> ! {
    panic!("a once cell is poisoned: its initialiser panicked")
}

/// Publishes how the closure ended, also when that was a panic.
struct Outcome<'a> {
    once: &'a Once,
    state: u64,
}

impl Drop for Outcome<'_> {
    fn drop(&mut self) {
        self.once.state.store(self.state, Ordering::Release);
        // Who waits joined under the queue's lock and looked at the state after that.
        self.once.queue.lock().choose_more(EVERYTHING).call();
    }
}

impl OnceState {
    /// Did an earlier closure panic?
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

// A closure that panics leaves the cell poisoned, which everybody sees.
impl std::panic::UnwindSafe for Once {}
impl std::panic::RefUnwindSafe for Once {}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState")
            .field("poisoned", &self.is_poisoned())
            .finish()
    }
}
