//! [`Semaphore`]: a number of permits, given in order.

use std::fmt;
use std::time::Duration;

use crate::event::{Operation, Subject};
use crate::primitive::constant::{AtomicU64, Ordering};
use crate::sync::raw::attempt::{self, Attempt, GaveUp};
use crate::sync::wait_queue::{Line, Place, WaitQueue};

/// Somebody waits. Changes only under the queue's lock, so whoever holds that and finds too few permits
/// knows that the release of more comes later and will see it.
const QUEUED: u64 = 1;
const ONE_PERMIT: u64 = 1 << 1;

/// A number of permits: what limits how many threads use a scarce thing at once.
///
/// Permits are given in the order of asking; a thread whose carrier cannot run it is passed over until it can. A
/// [`Permit`] is given back when dropped, by whatever thread.
///
/// ```
/// use vt_runtime::sync::Semaphore;
///
/// let connections = Semaphore::new(2);
/// let one = connections.acquire();
/// let two = connections.acquire();
/// assert!(connections.try_acquire().is_none());
/// drop(one);
/// assert!(connections.try_acquire().is_some());
/// # drop(two);
/// ```
pub struct Semaphore {
    /// Free permits, and [`QUEUED`].
    word: AtomicU64,
    max: u64,
    queue: WaitQueue,
}

/// Permits of a [`Semaphore`], given back when dropped.
#[must_use = "the permit is given back when dropped"]
#[derive(Debug)]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    count: u32,
}

impl Semaphore {
    /// The most permits a semaphore can have.
    pub const MAX_PERMITS: u64 = u64::MAX >> 2;

    /// A semaphore with that many free permits.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn new(permits: u32) -> Self {
        Self {
            word: AtomicU64::new(permits as u64 * ONE_PERMIT),
            max: Self::MAX_PERMITS,
            queue: WaitQueue::new(),
        }
    }

    /// A semaphore with that many free permits, and never more: [`add_permits`](Self::add_permits) beyond it
    /// panics.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub const fn bounded(permits: u32) -> Self {
        Self {
            word: AtomicU64::new(permits as u64 * ONE_PERMIT),
            max: permits as u64,
            queue: WaitQueue::new(),
        }
    }

    /// Takes one permit, waiting for it. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned. Having the permit does not pin.
    #[track_caller]
    pub fn acquire(&self) -> Permit<'_> {
        self.acquire_many(1)
    }

    /// Takes that many permits at once, waiting until it is the caller's turn and there are enough.
    ///
    /// # Pinning
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// If it is more than the semaphore may have: the wait would never end.
    #[track_caller]
    pub fn acquire_many(&self, count: u32) -> Permit<'_> {
        assert!(
            u64::from(count) <= self.max,
            "a semaphore of at most {} permits never has {count} to give: ask for fewer",
            self.max
        );
        match self.take(count, self.attempt()) {
            Ok(permit) => permit,
            Err(gave_up) => unreachable!("a wait without an end gave up: {gave_up:?}"),
        }
    }

    /// [`acquire`](Self::acquire) that an interrupt ends.
    ///
    /// # Pinning
    ///
    /// As `acquire`.
    ///
    /// # Errors
    ///
    /// [`Interrupted`](super::Interrupted) if the thread is interrupted first; its flag is clear then.
    #[track_caller]
    pub fn acquire_interruptibly(&self) -> Result<Permit<'_>, super::Interrupted> {
        self.take(1, self.attempt().interruptible())
            .map_err(|_| super::Interrupted)
    }

    /// Takes one permit if that is possible within `timeout`. An interrupt ends the wait too, and the flag
    /// stays set.
    ///
    /// # Pinning
    ///
    /// As [`acquire`](Self::acquire).
    #[track_caller]
    pub fn acquire_timeout(&self, timeout: Duration) -> Option<Permit<'_>> {
        if let Some(permit) = self.take_at_once(1) {
            return Some(permit);
        }
        match self.take(
            1,
            self.attempt()
                .interruptible()
                .until(attempt::deadline_in(timeout)),
        ) {
            Ok(permit) => Some(permit),
            Err(GaveUp::Timeout) => None,
            Err(GaveUp::Interrupted) => {
                attempt::keep_interrupt();
                None
            }
        }
    }

    /// Takes one permit if that is possible within `timeout`. An interrupt does not end the wait.
    #[track_caller]
    pub(crate) fn acquire_within(&self, timeout: Duration) -> Option<Permit<'_>> {
        let attempt = self.attempt().until(attempt::deadline_in(timeout));
        self.take(1, attempt).ok()
    }

    /// Takes one permit if there is one and nobody waits for it.
    pub(crate) fn try_acquire_in_order(&self) -> Option<Permit<'_>> {
        self.take_at_once(1)
    }

    /// Takes one permit if there is one, also past those who wait.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn try_acquire(&self) -> Option<Permit<'_>> {
        self.try_acquire_many(1)
    }

    /// Takes that many permits if there are enough, also past those who wait.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn try_acquire_many(&self, count: u32) -> Option<Permit<'_>> {
        self.subtract(count, false).then(|| self.permit(count))
    }

    /// Makes that many permits more.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Panics
    ///
    /// If there would be more than the semaphore may have.
    #[track_caller]
    pub fn add_permits(&self, count: u32) {
        self.release(count);
    }

    /// How many permits are free at this moment.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn available_permits(&self) -> u64 {
        self.word.load(Ordering::Relaxed) / ONE_PERMIT
    }

    /// How many threads wait at this moment.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn waiting(&self) -> usize {
        self.queue.lock_if_used().map_or(0, |line| line.len())
    }

    #[track_caller]
    fn attempt(&self) -> Attempt {
        let id = std::ptr::from_ref(self).addr() as u64;
        Attempt::new(Operation::Semaphore).about(Subject {
            kind: "Semaphore",
            name: None,
            id,
        })
    }

    fn permit(&self, count: u32) -> Permit<'_> {
        Permit {
            semaphore: self,
            count,
        }
    }

    fn take_at_once(&self, count: u32) -> Option<Permit<'_>> {
        self.subtract(count, true).then(|| self.permit(count))
    }

    /// Takes permits if there are enough and, when `in_order`, nobody waits.
    fn subtract(&self, count: u32, in_order: bool) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word / ONE_PERMIT < u64::from(count) || (in_order && word & QUEUED != 0) {
                return false;
            }
            let less = word - u64::from(count) * ONE_PERMIT;
            match self
                .word
                .compare_exchange_weak(word, less, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
    }

    fn take(&self, count: u32, mut attempt: Attempt) -> Result<Permit<'_>, GaveUp> {
        if let Some(permit) = self.take_at_once(count) {
            return Ok(permit);
        }
        let mut line = self.queue.lock();
        let waiter = attempt.prepare();
        let mut epoch = waiter.epoch();
        let place = Place::join(&self.queue, &mut line, waiter, u64::from(count));
        let mut was_called = false;
        loop {
            self.publish(&line);
            let is_its_turn = was_called || line.is_first_able(Some(place.ticket()));
            if is_its_turn && self.subtract(count, false) {
                place.settle(&mut line);
                self.publish(&line);
                // There may be enough left for those behind.
                self.call_next(line);
                return Ok(self.permit(count));
            }
            drop(line);
            attempt.wait(epoch, 0)?;
            was_called = true;
            line = self.queue.lock();
            if self.subtract(count, false) {
                place.settle(&mut line);
                self.publish(&line);
                self.call_next(line);
                return Ok(self.permit(count));
            }
            let waiter = attempt.prepare();
            epoch = waiter.epoch();
            place.rejoin(&mut line, waiter);
        }
    }

    #[track_caller]
    fn release(&self, count: u32) {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let free = word / ONE_PERMIT + u64::from(count);
            assert!(
                free <= self.max,
                "a semaphore of at most {} permits would have {free}: {count} released that nobody had taken",
                self.max
            );
            let more = word + u64::from(count) * ONE_PERMIT;
            match self
                .word
                .compare_exchange_weak(word, more, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        if word & QUEUED != 0 {
            self.call_next(self.queue.lock());
        }
    }

    fn call_next(&self, mut line: Line<'_>) {
        let chosen = line.choose(self.word.load(Ordering::Relaxed) / ONE_PERMIT);
        drop(line);
        chosen.call();
    }

    /// Makes the flag say what the queue holds.
    fn publish(&self, line: &Line<'_>) {
        let queued = if line.is_empty() { 0 } else { QUEUED };
        if self.word.load(Ordering::Relaxed) & QUEUED != queued {
            self.word.fetch_xor(QUEUED, Ordering::Relaxed);
        }
    }
}

impl Permit<'_> {
    /// Keeps the permits for ever: the semaphore has that many less.
    ///
    /// # Pinning
    ///
    /// Never waits.
    pub fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.semaphore.release(self.count);
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore")
            .field("available_permits", &self.available_permits())
            .finish_non_exhaustive()
    }
}
