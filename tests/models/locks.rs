//! The exclusive and the shared lock: exclusion, and nobody waits for a free lock.

use std::sync::Arc;
use std::sync::atomic::AtomicU32 as Unwatched;

use crate::event::Operation;
use crate::primitive::constant::{AtomicU32, Ordering};
use crate::sync::raw::attempt::{Attempt, Clock, GaveUp, strike};
use crate::sync::raw::exclusive::Exclusive;
use crate::sync::raw::protected::{Held, Protected, ReadHeld, WriteHeld};
use crate::sync::raw::shared::Shared;
use crate::{model, on};

/// A number that tells whether those who change it exclude each other, and whether each sees what the one before
/// did: `seen` is what the memory model lets a thread see, `truth` what has happened.
#[derive(Default)]
pub(crate) struct Watched {
    seen: AtomicU32,
    truth: Unwatched,
}

impl Watched {
    fn look(&self) {
        let truth = self.truth.load(Ordering::SeqCst);
        assert_eq!(
            self.seen.load(Ordering::Relaxed),
            truth,
            "two inside, or one that is out of date"
        );
    }

    pub(crate) fn change(&self) {
        self.look();
        let next = self.truth.fetch_add(1, Ordering::SeqCst) + 1;
        self.seen.store(next, Ordering::Relaxed);
    }
}

pub(crate) type Guarded = Arc<Protected<Exclusive, Watched>>;

pub(crate) fn guarded(fair: bool) -> Guarded {
    let mut lock = Exclusive::new();
    lock.set_fair(fair);
    let guarded = Arc::new(Protected::new(lock, Watched::default()));
    drop(hold(&guarded));
    guarded
}

fn shared() -> Arc<Protected<Shared, Watched>> {
    let lock = Arc::new(Protected::new(Shared::new(), Watched::default()));
    drop(write(&lock, Attempt::new(Operation::Lock)));
    lock
}

pub(crate) fn hold(guarded: &Guarded) -> Held<'_, Watched> {
    let held = match guarded.hold_at_once() {
        Some(held) => held,
        None => guarded
            .hold(&mut Attempt::new(Operation::Lock))
            .expect("no deadline"),
    };
    held.change();
    held
}

fn hold_timed<'a>(guarded: &'a Guarded, clock: &Clock) -> Option<Held<'a, Watched>> {
    let mut attempt = Attempt::new(Operation::Lock).timed_by(clock);
    let held = guarded
        .hold_at_once()
        .or_else(|| guarded.hold(&mut attempt).ok())?;
    held.change();
    Some(held)
}

fn read(lock: &Protected<Shared, Watched>) -> ReadHeld<'_, Watched> {
    let held = match lock.read_at_once() {
        Some(held) => held,
        None => lock
            .read(&mut Attempt::new(Operation::Lock))
            .expect("no deadline"),
    };
    held.look();
    held
}

fn write<'a>(
    lock: &'a Protected<Shared, Watched>,
    mut attempt: Attempt,
) -> Result<WriteHeld<'a, Watched>, GaveUp> {
    let held = match lock.write_at_once() {
        Some(held) => held,
        None => lock.write(&mut attempt)?,
    };
    held.change();
    Ok(held)
}

#[test]
fn three_threads_take_turns() {
    for fair in [false, true] {
        model(1, 0, move || {
            let guarded = guarded(fair);
            (0..3)
                .map(|_| {
                    let guarded = Arc::clone(&guarded);
                    on(None, move || drop(hold(&guarded)))
                })
                .collect()
        });
    }
}

#[test]
fn two_threads_of_one_carrier_and_an_os_thread_take_turns() {
    model(1, 1, || {
        let guarded = guarded(false);
        [(Some(0), 2), (Some(0), 1), (None, 1)]
            .map(|(home, times)| {
                let guarded = Arc::clone(&guarded);
                on(home, move || (0..times).for_each(|_| drop(hold(&guarded))))
            })
            .into()
    });
}

#[test]
fn who_gives_up_passes_its_call_on() {
    for fair in [false, true] {
        model(1, 0, move || {
            let guarded = guarded(fair);
            let clock = Clock::default();
            let (timed, timed_clock) = (Arc::clone(&guarded), Arc::clone(&clock));
            let other = Arc::clone(&guarded);
            vec![
                on(None, move || drop(hold(&guarded))),
                on(None, move || drop(hold_timed(&timed, &timed_clock))),
                on(None, move || {
                    let held = hold(&other);
                    strike(&clock);
                    drop(held);
                    strike(&clock);
                }),
            ]
        });
    }
}

#[test]
fn readers_share_and_writers_do_not() {
    model(1, 0, || {
        let lock = shared();
        let (one, two) = (Arc::clone(&lock), Arc::clone(&lock));
        vec![
            on(None, move || drop(read(&one))),
            on(None, move || drop(read(&two))),
            on(None, move || {
                drop(write(&lock, Attempt::new(Operation::Lock)))
            }),
        ]
    });
}

#[test]
fn a_reader_behind_a_writer_that_gives_up_goes_on() {
    model(1, 0, || {
        let lock = shared();
        let clock = Clock::default();
        let (first, second, third) = (Arc::clone(&lock), Arc::clone(&lock), lock);
        let strikes = Arc::clone(&clock);
        vec![
            on(None, move || {
                let held = read(&first);
                strike(&strikes);
                drop(held);
            }),
            on(None, move || {
                let attempt = Attempt::new(Operation::Lock).timed_by(&clock);
                drop(write(&second, attempt));
            }),
            on(None, move || drop(read(&third))),
        ]
    });
}
