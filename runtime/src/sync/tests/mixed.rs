//! Everything at once: virtual and OS threads on the same objects, what they do drawn at random from a seed, with time-outs
//! and interrupts. Exclusion holds, and no wake-up, permit, notice or message is lost.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use super::stress::Dice;
use super::{Stage, all, os_thread};
use crate::sync::channel::{self, Receiver, Sender};
use crate::sync::mpsc;
use crate::sync::{Condition, Monitor, Mutex, ReentrantLock, RwLock, Semaphore};
use crate::thread;

const PERMITS: u32 = 3;
const STEPS: u32 = 150;

/// Nobody else may be inside.
#[derive(Default)]
struct Alone(AtomicBool);

impl Alone {
    fn visit(&self, dice: &mut Dice) {
        assert!(!self.0.swap(true, Ordering::SeqCst), "two inside");
        if dice.roll(4) == 0 {
            thread::yield_now();
        }
        self.0.store(false, Ordering::SeqCst);
    }
}

struct World {
    mutex: Mutex<Alone>,
    rw_lock: RwLock<(AtomicUsize, Alone)>,
    lock: ReentrantLock<Alone>,
    monitor: Monitor<Alone>,
    permits: Semaphore,
    inside: AtomicU32,
    pot: ReentrantLock<Cell<u32>>,
    filled: Condition,
    given: AtomicU32,
    taken: AtomicU32,
    messages: (Sender<u32>, Receiver<u32>),
    sent: AtomicU32,
    received: AtomicU32,
}

impl World {
    fn new(fair: bool) -> Arc<Self> {
        Arc::new(Self {
            mutex: Mutex::default(),
            rw_lock: RwLock::default(),
            lock: ReentrantLock::new(Alone::default()).fair(fair),
            monitor: Monitor::new(Alone::default()),
            permits: Semaphore::bounded(PERMITS),
            inside: AtomicU32::default(),
            pot: ReentrantLock::new(Cell::new(0)),
            filled: Condition::new(),
            given: AtomicU32::default(),
            taken: AtomicU32::default(),
            messages: channel::bounded(2),
            sent: AtomicU32::default(),
            received: AtomicU32::default(),
        })
    }

    fn step(&self, dice: &mut Dice) {
        let short = Duration::from_micros(dice.roll(300));
        match dice.roll(10) {
            0 => self.mutex.lock().expect("not poisoned").visit(dice),
            1 => self.visit_lock(dice, short),
            2 => self.visit_rw_lock(dice),
            3 => self.use_permits(dice, short),
            4 => self.monitor.enter().visit(dice),
            5 => self.give(),
            6 => self.take(dice, short),
            7 | 8 => {
                if self.messages.0.send_timeout(1, short).is_ok() {
                    self.sent.fetch_add(1, Ordering::SeqCst);
                }
            }
            _ => {
                let got = match dice.roll(2) {
                    0 => self.messages.1.recv_timeout(short).is_ok(),
                    _ => self.messages.1.try_recv().is_ok(),
                };
                self.received.fetch_add(u32::from(got), Ordering::SeqCst);
            }
        }
    }

    fn visit_lock(&self, dice: &mut Dice, short: Duration) {
        let guard = match dice.roll(4) {
            0 => self.lock.try_lock_for(short),
            1 => self.lock.lock_interruptibly().ok(),
            2 => self.lock.try_lock(),
            _ => Some(self.lock.lock()),
        };
        if let Some(guard) = guard {
            guard.visit(dice);
        }
    }

    fn visit_rw_lock(&self, dice: &mut Dice) {
        if dice.roll(3) == 0 {
            let held = self.rw_lock.write().expect("not poisoned");
            assert_eq!(held.0.load(Ordering::SeqCst), 0, "a reader beside a writer");
            held.1.visit(dice);
        } else {
            let held = self.rw_lock.read().expect("not poisoned");
            held.0.fetch_add(1, Ordering::SeqCst);
            thread::yield_now();
            held.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn use_permits(&self, dice: &mut Dice, short: Duration) {
        let (permit, count) = match dice.roll(4) {
            0 => (self.permits.acquire_timeout(short), 1),
            1 => (self.permits.acquire_interruptibly().ok(), 1),
            2 => (Some(self.permits.acquire_many(2)), 2),
            _ => (Some(self.permits.acquire()), 1),
        };
        if permit.is_some() {
            let inside = self.inside.fetch_add(count, Ordering::SeqCst) + count;
            assert!(inside <= PERMITS, "{inside} permits are out");
            thread::yield_now();
            self.inside.fetch_sub(count, Ordering::SeqCst);
        }
    }

    fn give(&self) {
        let pot = self.pot.lock();
        pot.set(pot.get() + 1);
        drop(pot);
        self.given.fetch_add(1, Ordering::SeqCst);
        self.filled.notify_one();
    }

    fn take(&self, dice: &mut Dice, short: Duration) {
        let mut pot = self.pot.lock();
        if pot.get() == 0 {
            // Nobody may be there to give: only a time-out is sure to come.
            let _ = self.filled.wait_timeout(&mut pot, short);
            assert!(self.pot.is_held());
        }
        if dice.roll(8) == 0 {
            thread::yield_now();
        }
        if let Some(less) = pot.get().checked_sub(1) {
            pot.set(less);
            self.taken.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn check(&self) {
        let pot = self.pot.lock().get();
        assert_eq!(
            self.given.load(Ordering::SeqCst),
            self.taken.load(Ordering::SeqCst) + pot
        );
        let left = u32::try_from(self.messages.1.try_iter().count()).expect("two");
        assert_eq!(
            self.sent.load(Ordering::SeqCst),
            self.received.load(Ordering::SeqCst) + left
        );
        assert_eq!(self.permits.available_permits(), u64::from(PERMITS));
        assert!(!self.lock.is_locked());
        assert!(self.mutex.try_lock().is_ok() && self.rw_lock.try_write().is_ok());
        assert!(self.monitor.try_enter().is_some());
    }
}

#[test]
fn everything_at_once_loses_nothing() {
    for seed in [1, 2] {
        Stage::on_both(2, |stage| {
            let world = World::new(seed == 2);
            let work = |n: u64| {
                let world = Arc::clone(&world);
                move || {
                    let mut dice = Dice::new(seed * 1000 + n);
                    (0..STEPS).for_each(|_| world.step(&mut dice));
                }
            };
            let os: Vec<_> = (0..2).map(|n| os_thread(work(n))).collect();
            let on: Vec<_> = (2..26).map(|n| stage.runtime.spawn(work(n))).collect();
            let targets: Vec<_> = on.iter().map(|handle| handle.thread().clone()).collect();
            let over = Arc::new(AtomicBool::new(false));
            let ends = Arc::clone(&over);
            let interrupter = os_thread(move || {
                let mut dice = Dice::new(seed);
                while !ends.load(Ordering::SeqCst) {
                    targets[dice.roll(targets.len() as u64) as usize].interrupt();
                    std::thread::yield_now();
                }
            });
            all(on);
            os.into_iter().for_each(|os| os.join().expect("no panic"));
            over.store(true, Ordering::SeqCst);
            interrupter.join().expect("no panic");
            world.check();
        });
    }
}

#[test]
fn one_receiver_with_time_outs_and_interrupts_gets_every_message() {
    for bound in [0, 2] {
        Stage::on_both(2, |stage| {
            let (sender, receiver) = mpsc::sync_channel(bound);
            let send = |who: u32| {
                let sender = sender.clone();
                move || {
                    let mut dice = Dice::new(u64::from(who) + 1);
                    for n in 0..STEPS {
                        sender.send(who * STEPS + n).expect("it is received");
                        if dice.roll(3) == 0 {
                            thread::yield_now();
                        }
                    }
                }
            };
            let os = os_thread(send(0));
            let on: Vec<_> = (1..6).map(|who| stage.runtime.spawn(send(who))).collect();
            drop(sender);
            let receives = stage.runtime.spawn(move || {
                let mut dice = Dice::new(99);
                let mut got = Vec::new();
                loop {
                    let short = Duration::from_micros(dice.roll(200));
                    let ended = match dice.roll(3) {
                        0 => match receiver.recv_timeout(short) {
                            Ok(message) => Ok(message),
                            Err(mpsc::RecvTimeoutError::Timeout) => continue,
                            Err(mpsc::RecvTimeoutError::Disconnected) => Err(()),
                        },
                        1 => match receiver.recv_interruptibly() {
                            Ok(message) => Ok(message),
                            Err(mpsc::InterruptibleRecvError::Interrupted) => continue,
                            Err(mpsc::InterruptibleRecvError::Disconnected) => Err(()),
                        },
                        _ => receiver.recv().map_err(drop),
                    };
                    match ended {
                        Ok(message) => got.push(message),
                        Err(()) => return got,
                    }
                }
            });
            while !receives.is_finished() {
                receives.thread().interrupt();
                std::thread::yield_now();
            }
            all(on);
            os.join().expect("no panic");
            let mut got = receives.join().expect("no panic");
            got.sort_unstable();
            assert!(got.into_iter().eq(0..6 * STEPS));
        });
    }
}
