//! The exclusive lock under `Mutex`, `ReentrantLock` and the parking_lot shapes: one word, one queue.
//!
//! ```text
//!   63                                     3 2 1 0
//!   ┌──────────────────────────────────────┬─┬─┬─┐
//!   │ owner (thread id, turned left by 4)  │P│H│Q│      0 = free and nobody waits
//!   └──────────────────────────────────────┴─┴─┴─┘
//!   Q  queued     somebody waits: unlock must look
//!   H  hand over  newcomers stand in line (fair locks, or a waiter that has lost for about 1 ms)
//!   P  promised   a waiter that can run was called and has not tried yet: unlock need not call another
//! ```
//!
//! **Invariant (flags):** Q, H and P change only under the queue's lock. So whoever holds that lock and sees an
//! owner knows that the owner's unlock comes later in the word's history and will see the flags.
//!
//! **Invariant (no lost wake-up):** if the lock is free and somebody waits, then a waiter that was able to run
//! is `Called` in the queue, or the thread that freed it is about to call one, or its carrier owes the call. P set without such a waiter
//! is possible only while nobody is left to call (the next one to join sets it right).
//!
//! Barging: the lock is freed first and waiters are called then, so a running thread may win. After
//! [`HAND_OVER_AFTER`] of losing, a waiter sets H, for itself and for all who stood in line when it first lost: they
//! have waited as long. Even then the lock is only offered: those who find that nobody before them can run take it.
//!
//! A call to a waiter that could not run before the caller leaves their carrier is left to that moment (`owe_call`), and
//! dropped if the caller has the lock again by then. The queue calls for itself then and knows no flags: P may be
//! missing while somebody is called, which costs a look at the queue.

use std::time::Duration;

use crate::event::Subject;
use crate::park;
use crate::primitive::constant::{AtomicU64, Instant, Ordering, spins};
use crate::sync::raw::attempt::{self, Attempt, GaveUp};
use crate::sync::raw::condition::GiveBack;
use crate::sync::wait_queue::{Line, Place, Ticket, WaitQueue};

/// How long a waiter may lose against newcomers before they must stand behind it.
pub(crate) const HAND_OVER_AFTER: Duration = Duration::from_millis(1);

const QUEUED: u64 = 1;
const HAND_OVER: u64 = 1 << 1;
const PROMISED: u64 = 1 << 2;
const FLAGS: u64 = QUEUED | HAND_OVER | PROMISED;

/// See the module's documentation.
pub(crate) struct Exclusive {
    word: AtomicU64,
    queue: WaitQueue,
    fair: bool,
}

/// A thread as the word stores it. Ids use bit 63 (OS threads) and the low 60 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key(u64);

impl Key {
    #[inline]
    fn mine() -> Self {
        Self(park::me().rotate_left(4))
    }
}

/// The id of the owner in `word`, 0 if free.
#[inline]
fn owner(word: u64) -> u64 {
    (word & !FLAGS).rotate_right(4)
}

impl Exclusive {
    pub(crate) const fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            queue: WaitQueue::new(),
            fair: false,
        }
    }

    /// First come, first served, as far as those who are first can run.
    pub(crate) const fn set_fair(&mut self, fair: bool) {
        self.fair = fair;
    }

    /// What names it in events.
    pub(crate) fn id(&self) -> u64 {
        std::ptr::from_ref(self).addr() as u64
    }

    /// For locks that are not reentrant: the owner would wait for itself.
    #[track_caller]
    pub(crate) fn refuse_relock(&self, subject: Subject) {
        if self.is_mine() {
            attempt::refuse_self_wait(subject);
        }
    }

    /// The id of the thread that holds it, 0 if it is free.
    pub(crate) fn owner(&self) -> u64 {
        owner(self.word.load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn is_mine(&self) -> bool {
        // Nobody but this thread writes or erases this thread's id.
        self.word.load(Ordering::Relaxed) & !FLAGS == Key::mine().0
    }

    /// Takes the lock if it is free, also past those who wait.
    #[inline]
    pub(crate) fn try_acquire(&self) -> bool {
        let key = Key::mine();
        self.word
            .compare_exchange(0, key.0, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
            || self.take(key)
    }

    /// The path of [`acquire`](Self::acquire) where nobody holds the lock, and nobody who waits must come first.
    #[inline]
    pub(crate) fn acquire_at_once(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        let taken = word & !(QUEUED | PROMISED) == 0
            && self
                .word
                .compare_exchange(
                    word,
                    word | Key::mine().0,
                    Ordering::Acquire,
                    Ordering::Relaxed,
                )
                .is_ok();
        // Where somebody is on the way, a call that is owed all the same is harmless.
        if taken && word == QUEUED {
            self.queue.waive_call();
        }
        taken
    }

    /// Takes the lock, waiting for it as `attempt` says. The owner must not call this.
    #[cold]
    pub(crate) fn acquire(&self, attempt: &mut Attempt) -> Result<(), GaveUp> {
        let key = Key::mine();
        if self.look_again(key) {
            return Ok(());
        }
        // When it first came to a lock that others had won, and who stood in line by then.
        let mut lost: Option<(Instant, Ticket)> = None;
        let mut line = self.queue.lock();
        let waiter = attempt.prepare();
        let mut epoch = waiter.epoch();
        let place = Place::join(&self.queue, &mut line, waiter, 1);
        let mut was_called = false;
        loop {
            let word = self.publish(&line);
            let may_take =
                was_called || word & HAND_OVER == 0 || line.is_first_able(Some(place.ticket()));
            if owner(word) == 0 && may_take && self.take(key) {
                place.settle(&mut line);
                self.publish(&line);
                return Ok(());
            }
            drop(line);
            attempt.wait(epoch, owner(word))?;
            was_called = true;
            line = self.queue.lock();
            if self.take(key) {
                place.settle(&mut line);
                self.publish(&line);
                return Ok(());
            }
            let waiter = attempt.prepare();
            epoch = waiter.epoch();
            place.rejoin(&mut line, waiter);
            match lost {
                None => lost = Some((Instant::now(), line.next_ticket())),
                Some((since, before)) if since.elapsed() >= HAND_OVER_AFTER => {
                    line.set_urgent_before(before);
                }
                Some(_) => {}
            }
        }
    }

    /// Frees the lock. Only the owner may call this.
    #[inline]
    pub(in crate::sync::raw) fn release(&self) {
        debug_assert!(self.is_mine(), "released by another thread");
        let word = self.word.load(Ordering::Relaxed);
        let alone = word & FLAGS == 0
            && self
                .word
                .compare_exchange(word, 0, Ordering::Release, Ordering::Relaxed)
                .is_ok();
        if !alone {
            self.release_and_call(false);
        }
    }

    /// Frees the lock for the one who has waited longest.
    pub(in crate::sync::raw) fn release_fairly(&self) {
        self.release_and_call(true);
    }

    /// Does somebody wait for it?
    pub(crate) fn has_waiters(&self) -> bool {
        self.word.load(Ordering::Relaxed) & QUEUED != 0
    }

    #[cold]
    fn release_and_call(&self, hand_over: bool) {
        if hand_over && self.has_waiters() {
            let mut line = self.queue.lock();
            line.set_first_urgent();
            self.publish(&line);
        }
        // The owner's part is this thread's to change. Not `fetch_and`, whose result takes a loop on most machines.
        let mine = self.word.load(Ordering::Relaxed) & !FLAGS;
        let before = self.word.fetch_sub(mine, Ordering::Release);
        if before & QUEUED == 0 || before & PROMISED != 0 {
            return;
        }
        if before & HAND_OVER == 0 && self.queue.owe_call() {
            return;
        }
        let mut line = self.queue.lock();
        if owner(self.word.load(Ordering::Relaxed)) != 0 {
            // Taken again meanwhile; whoever did finds the flags when it unlocks.
            return;
        }
        let chosen = line.choose(1);
        self.publish(&line);
        drop(line);
        chosen.call();
    }

    /// Takes the lock if it is free, whatever the flags say.
    #[inline]
    fn take(&self, key: Key) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while owner(word) == 0 {
            match self.word.compare_exchange_weak(
                word,
                word | key.0,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Looks a few times more whether the lock becomes free: most are held for less than a wait costs.
    fn look_again(&self, key: Key) -> bool {
        for look in 0..=spins() {
            let word = self.word.load(Ordering::Relaxed);
            if word & HAND_OVER != 0 {
                return false;
            }
            if owner(word) == 0 && self.take(key) {
                if word & QUEUED != 0 {
                    self.queue.waive_call();
                }
                return true;
            }
            // Who waits already has looked before: the lock is held for long.
            if word & QUEUED != 0 {
                return false;
            }
            for _ in 0..1 << look {
                std::hint::spin_loop();
            }
        }
        false
    }

    /// Makes the flags say what the queue holds; returns the word as it is after that.
    fn publish(&self, line: &Line<'_>) -> u64 {
        let mut flags = 0;
        if !line.is_empty() {
            flags |= QUEUED;
            flags |= if self.fair || line.has_urgent() {
                HAND_OVER
            } else {
                0
            };
            flags |= if line.is_promised() { PROMISED } else { 0 };
        }
        let word = self.word.load(Ordering::Relaxed);
        let change = (word & FLAGS) ^ flags;
        if change == 0 {
            return word;
        }
        self.word.fetch_xor(change, Ordering::Relaxed) ^ change
    }
}

impl GiveBack for Exclusive {
    type Levels = ();

    fn give_back(&self) {
        self.release();
    }

    fn take_back(&self, (): &mut (), attempt: &mut Attempt) {
        while !self.acquire_at_once() {
            // A persistent attempt ends only by getting the lock.
            if self.acquire(attempt).is_ok() {
                return;
            }
        }
    }
}
