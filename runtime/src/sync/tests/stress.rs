//! Virtual and OS threads on the same objects, with time-outs and interrupts at random; seeded.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Stage, all, os_thread};
use crate::sync::{Condvar, Monitor, Mutex, ReentrantLock, RwLock};
use crate::thread;

/// A small generator of numbers that look random (xorshift).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed * 0x9e37_79b9 + 1)
    }

    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

fn lock_work(lock: Arc<ReentrantLock<Cell<u64>>>, seed: u64) -> impl FnOnce() -> u64 + Send {
    move || {
        let mut dice = Dice(seed * 0x9e37_79b9 + 1);
        let mut done = 0;
        for _ in 0..300 {
            let guard = match dice.roll(4) {
                0 => lock.try_lock_for(Duration::from_micros(dice.roll(300))),
                1 => lock.lock_interruptibly().ok(),
                2 => lock.try_lock(),
                _ => Some(lock.lock()),
            };
            let Some(count) = guard else { continue };
            let before = count.get();
            if dice.roll(8) == 0 {
                thread::yield_now();
            }
            if dice.roll(16) == 0 {
                let own = Monitor::new(());
                let _pinned = own.enter();
                thread::sleep(Duration::from_micros(20));
            }
            count.set(before + 1);
            done += 1;
        }
        done
    }
}

#[test]
fn a_reentrant_lock_excludes_and_loses_nobody() {
    for fair in [false, true] {
        Stage::on_both(2, |stage| {
            let lock = Arc::new(ReentrantLock::new(Cell::new(0)).fair(fair));
            let over = Arc::new(AtomicBool::new(false));
            let os: Vec<_> = (0..2)
                .map(|n| os_thread(lock_work(Arc::clone(&lock), n)))
                .collect();
            let on: Vec<_> = (10..50)
                .map(|n| stage.runtime.spawn(lock_work(Arc::clone(&lock), n)))
                .collect();
            let targets: Vec<_> = on.iter().map(|handle| handle.thread().clone()).collect();
            let ends = Arc::clone(&over);
            let interrupter = os_thread(move || {
                let mut dice = Dice(7);
                while !ends.load(Ordering::SeqCst) {
                    targets[dice.roll(targets.len() as u64) as usize].interrupt();
                    std::thread::yield_now();
                }
            });
            let mut done: u64 = all(on).into_iter().sum();
            done += os
                .into_iter()
                .map(|os| os.join().expect("no panic"))
                .sum::<u64>();
            over.store(true, Ordering::SeqCst);
            interrupter.join().expect("no panic");
            assert_eq!(lock.lock().get(), done);
            assert!(!lock.is_locked());
        });
    }
}

#[test]
fn a_mutex_with_a_condvar_hands_every_item_over() {
    Stage::on_both(2, |stage| {
        let shared = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let consume = |seed: u64| {
            let shared = Arc::clone(&shared);
            move || {
                let mut dice = Dice(seed + 1);
                let mut sum = 0;
                for _ in 0..100 {
                    let mut items = shared.0.lock().expect("not poisoned");
                    while items.is_empty() {
                        let limit = Duration::from_micros(50 + dice.roll(2000));
                        items = shared.1.wait_timeout(items, limit).expect("not poisoned").0;
                    }
                    sum += items.pop().unwrap_or(0);
                }
                sum
            }
        };
        let on: Vec<_> = (0..10).map(|n| stage.runtime.spawn(consume(n))).collect();
        let os: Vec<_> = (10..12).map(|n| os_thread(consume(n))).collect();
        let produce = |n: u64| {
            let shared = Arc::clone(&shared);
            move || {
                for i in 0..200 {
                    shared.0.lock().expect("not poisoned").push(n * 200 + i);
                    shared.1.notify_one();
                }
            }
        };
        all((0..6)
            .map(|n| stage.runtime.spawn(produce(n)))
            .collect::<Vec<_>>());
        let mut sum: u64 = all(on).into_iter().sum();
        sum += os
            .into_iter()
            .map(|os| os.join().expect("no panic"))
            .sum::<u64>();
        assert_eq!(sum, (0..1200).sum());
    });
}

#[test]
fn a_rw_lock_never_has_readers_beside_a_writer() {
    Stage::on_both(2, |stage| {
        let lock = Arc::new(RwLock::new((0u64, 0u64)));
        let work = |seed: u64| {
            let lock = Arc::clone(&lock);
            move || {
                let mut dice = Dice(seed * 77 + 1);
                let mut written = 0;
                for _ in 0..300 {
                    if dice.roll(3) == 0 {
                        let mut pair = lock.write().expect("not poisoned");
                        pair.0 += 1;
                        if dice.roll(4) == 0 {
                            thread::yield_now();
                        }
                        pair.1 += 1;
                        written += 1;
                    } else {
                        let pair = lock.read().expect("not poisoned");
                        assert_eq!(pair.0, pair.1);
                        if dice.roll(4) == 0 {
                            thread::yield_now();
                        }
                    }
                }
                written
            }
        };
        let os: Vec<_> = (0..2).map(|n| os_thread(work(n))).collect();
        let on: Vec<_> = (2..22).map(|n| stage.runtime.spawn(work(n))).collect();
        let mut written: u64 = all(on).into_iter().sum();
        written += os
            .into_iter()
            .map(|os| os.join().expect("no panic"))
            .sum::<u64>();
        assert_eq!(*lock.read().expect("not poisoned"), (written, written));
    });
}
