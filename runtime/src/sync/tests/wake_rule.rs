//! Free lock, stranded successor: a wake-one must reach somebody who can run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Stage, all, os_thread};
use crate::event::{Operation, PinReason};
use crate::sync::raw::attempt::Attempt;
use crate::sync::raw::level::{Level, Reenter};
use crate::sync::raw::reentrant::Reentrant;
use crate::sync::{Condvar, Monitor, Mutex, ReentrantLock, Semaphore, channel};
use crate::thread::ThreadState;
use crate::{native, pinned};

/// A waiter waits first, unmounted, on carrier 0; then both carriers are pinned by threads that wait for the
/// same thing; then it is released once.
fn stranded_successor(stage: &Stage, fair: bool) {
    let lock = Arc::new(ReentrantLock::named("l", ()).fair(fair));
    let order = Arc::new(AtomicUsize::new(0));
    let guard = lock.lock();
    let (first, counted) = (Arc::clone(&lock), Arc::clone(&order));
    let waits = stage.spawn_on(0, move || {
        let _guard = first.lock();
        counted.fetch_add(1, Ordering::SeqCst)
    });
    stage.until(waits.thread(), ThreadState::Waiting);
    let pinned: Vec<_> = (0..2)
        .map(|carrier| {
            let (lock, order) = (Arc::clone(&lock), Arc::clone(&order));
            stage.spawn_on(carrier, move || {
                let own = Monitor::new(());
                let _pinned = own.enter();
                let _guard = lock.lock();
                order.fetch_add(1, Ordering::SeqCst)
            })
        })
        .collect();
    for thread in &pinned {
        stage.until(thread.thread(), ThreadState::Pinned);
    }
    drop(guard);
    let mut places = all(pinned);
    assert!(places.contains(&0), "{places:?}");
    places.push(waits.join().expect("no panic"));
    places.sort_unstable();
    assert_eq!(places, [0, 1, 2]);
}

#[test]
fn a_free_lock_goes_to_a_pinned_waiter_past_a_stranded_one() {
    Stage::on_both(2, |stage| {
        for round in 0..100 {
            stranded_successor(stage, round % 2 == 0);
        }
        let pins = stage.pins();
        assert_eq!(pins.len(), 200, "one for each pinned wait");
        assert!(pins.iter().all(|pin| pin.operation == Operation::Lock));
        assert!(pins.iter().all(|pin| pin.reason == PinReason::Monitor));
        assert!(pins.iter().all(|pin| pin.waits_for.as_deref() == Some("l")));
    });
}

/// What keeps the carrier of a woken waiter before that is mounted.
#[derive(Clone, Copy, Debug)]
enum Blocks {
    Critical,
    Monitor,
    Native,
    Computing,
}

/// What the thread that keeps it waits for, in each of its ways.
#[derive(Clone)]
struct Mark {
    permits: Arc<Semaphore>,
    is_set: Arc<AtomicBool>,
}

impl Mark {
    fn new() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(0)),
            is_set: Arc::default(),
        }
    }

    fn set(&self) {
        self.is_set.store(true, Ordering::SeqCst);
        self.permits.add_permits(1);
    }

    fn wait(&self, blocks: Blocks) {
        match blocks {
            Blocks::Critical => pinned::critical("until the next one has had it", || {
                self.permits.acquire().forget();
            }),
            Blocks::Monitor => {
                let own = Monitor::new(());
                let _pinned = own.enter();
                self.permits.acquire().forget();
            }
            Blocks::Native => native::call("until the next one has had it", || {
                while !self.is_set.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
            }),
            // Until the watchdog sees that this carrier does not move.
            Blocks::Computing => {
                while !self.is_set.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
            }
        }
    }
}

/// Each way, and how often: computing is found by the watchdog only, so its rounds are long.
fn each_way(round: impl Fn(Blocks)) {
    for (blocks, rounds) in [
        (Blocks::Critical, ROUNDS),
        (Blocks::Monitor, ROUNDS),
        (Blocks::Native, ROUNDS),
        (Blocks::Computing, 10),
    ] {
        (0..rounds).for_each(|_| round(blocks));
    }
}

/// The hard shape: a waiter is woken while it could run, and then its carrier pins before it is mounted, for
/// what only the next waiter can do. Runs on carrier 0 with the waiters on carriers 0 and 1; `release` wakes one.
fn woken_and_then_stranded(
    stage: &Stage,
    blocks: Blocks,
    waits: impl Fn() + Clone + Send + 'static,
    before: impl FnOnce() + Send + 'static,
    release: impl Fn() + Send + 'static,
) {
    let mark = Mark::new();
    let begin = Arc::new(Semaphore::new(0));
    let (marked, started) = (mark.clone(), Arc::clone(&begin));
    let ready = Arc::new(AtomicUsize::new(0));
    let is_ready = Arc::clone(&ready);
    let pins = stage.spawn_on(0, move || {
        before();
        is_ready.store(1, Ordering::SeqCst);
        started.acquire().forget();
        release();
        marked.wait(blocks);
        release();
    });
    super::until(|| ready.load(Ordering::SeqCst) == 1);
    let waiters = [0, 1].map(|carrier| {
        let (waits, mark) = (waits.clone(), mark.clone());
        let waiter = stage.spawn_on(carrier, move || {
            waits();
            mark.set();
        });
        stage.until(waiter.thread(), ThreadState::Waiting);
        waiter
    });
    begin.add_permits(1);
    pins.join().expect("no panic");
    all(waiters);
}

const ROUNDS: usize = 100;

#[test]
fn a_woken_lock_waiter_that_gets_stranded_is_replaced() {
    Stage::on_both(2, |stage| {
        each_way(|blocks| {
            // Taken in one call of the releasing thread and released in another.
            let lock = Arc::new(Reentrant::new());
            let (held, waited) = (Arc::clone(&lock), Arc::clone(&lock));
            woken_and_then_stranded(
                stage,
                blocks,
                move || drop(enter(&waited)),
                move || std::mem::forget(held.enter_at_once()),
                move || {
                    if lock.is_mine() {
                        lock.exit();
                    }
                },
            );
        });
    });
}

fn enter(lock: &Reentrant) -> Level<'_, Reentrant> {
    match lock.enter_at_once() {
        Some(level) => level,
        None => lock
            .enter(&mut Attempt::new(Operation::Lock))
            .expect("a wait without an end"),
    }
}

#[test]
fn a_woken_semaphore_waiter_that_gets_stranded_is_replaced() {
    Stage::on_both(2, |stage| {
        each_way(|blocks| {
            let semaphore = Arc::new(Semaphore::new(0));
            let released = Arc::clone(&semaphore);
            woken_and_then_stranded(
                stage,
                blocks,
                move || semaphore.acquire().forget(),
                || {},
                move || released.add_permits(1),
            );
        });
    });
}

#[test]
fn a_notified_waiter_that_gets_stranded_is_replaced() {
    Stage::on_both(2, |stage| {
        each_way(|blocks| {
            let shared = Arc::new((Mutex::new(0), Condvar::new()));
            let told = Arc::clone(&shared);
            woken_and_then_stranded(
                stage,
                blocks,
                move || {
                    let count = shared.0.lock().expect("not poisoned");
                    let mut count = shared
                        .1
                        .wait_while(count, |n| *n == 0)
                        .expect("not poisoned");
                    *count -= 1;
                },
                || {},
                move || {
                    *told.0.lock().expect("not poisoned") += 1;
                    told.1.notify_one();
                },
            );
        });
    });
}

#[test]
fn a_woken_receiver_that_gets_stranded_is_replaced() {
    Stage::on_both(2, |stage| {
        each_way(|blocks| {
            let (sender, receiver) = channel::unbounded();
            woken_and_then_stranded(
                stage,
                blocks,
                move || receiver.recv().expect("it is sent"),
                || {},
                move || sender.send(()).expect("it is received"),
            );
        });
    });
}

#[test]
fn a_woken_sender_that_gets_stranded_is_replaced() {
    Stage::on_both(2, |stage| {
        each_way(|blocks| {
            let (sender, receiver) = channel::bounded(1);
            sender.send(()).expect("there is room");
            let _kept = receiver.clone();
            woken_and_then_stranded(
                stage,
                blocks,
                move || sender.send(()).expect("it is received"),
                || {},
                move || receiver.recv().expect("it is sent"),
            );
        });
    });
}

#[test]
fn a_newcomer_passes_a_stranded_waiter_of_a_fair_lock() {
    Stage::on_both(2, |stage| {
        let lock = Arc::new(ReentrantLock::new(()).fair(true));
        let guard = lock.lock();
        let other = Arc::clone(&lock);
        let first = stage.spawn_on(0, move || drop(other.lock()));
        stage.until(first.thread(), ThreadState::Waiting);
        let end = Arc::new(Semaphore::new(0));
        let ends = Arc::clone(&end);
        let blocks = stage.spawn_on(0, move || {
            pinned::critical("block", || ends.acquire().forget())
        });
        stage.until(blocks.thread(), ThreadState::Pinned);
        drop(guard);
        let late = os_thread(move || drop(lock.lock()));
        late.join().expect("no panic");
        end.add_permits(1);
        all([first, blocks]);
    });
}
