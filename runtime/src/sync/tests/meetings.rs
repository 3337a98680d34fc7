//! Barriers, latches and once cells: virtual and OS threads meet in rounds, each in its own way drawn from a seed, with
//! time-outs and interrupts. Nobody passes early, nobody is left behind, and what is to happen once happens once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::stress::Dice;
use super::{Stage, all, os_thread};
use crate::sync::{Barrier, CountDownLatch, Once, OnceLock};
use crate::thread;

const ON_OS: u64 = 2;
const THREADS: u64 = 14;
const ROUNDS: usize = 50;

struct Round {
    cell: OnceLock<u64>,
    made: AtomicU64,
    once: Once,
    ran: AtomicU64,
    arrived: AtomicU64,
    latch: CountDownLatch,
}

impl Round {
    fn new() -> Self {
        Self {
            cell: OnceLock::new(),
            made: AtomicU64::new(0),
            once: Once::new(),
            ran: AtomicU64::new(0),
            arrived: AtomicU64::new(0),
            latch: CountDownLatch::new(THREADS),
        }
    }

    fn meet(&self, dice: &mut Dice, id: u64) {
        let value = *self.cell.get_or_init(|| {
            self.made.fetch_add(1, Ordering::SeqCst);
            if dice.roll(2) == 0 {
                thread::yield_now();
            }
            id
        });
        assert_eq!(self.cell.get(), Some(&value));
        self.once.call_once(|| {
            thread::yield_now();
            self.ran.fetch_add(1, Ordering::SeqCst);
        });
        self.once.wait();
        assert_eq!(self.ran.load(Ordering::SeqCst), 1);
        self.arrived.fetch_add(1, Ordering::SeqCst);
        self.latch.count_down();
        loop {
            let is_open = match dice.roll(4) {
                0 => self
                    .latch
                    .wait_timeout(Duration::from_micros(dice.roll(200))),
                1 => self.latch.wait_interruptibly().is_ok(),
                _ => {
                    self.latch.wait();
                    true
                }
            };
            if is_open {
                break;
            }
        }
        assert_eq!(self.arrived.load(Ordering::SeqCst), THREADS);
    }
}

#[test]
fn rounds_of_meetings_lose_nobody() {
    for seed in [1, 2] {
        Stage::on_both(2, |stage| {
            let rounds: Arc<Vec<_>> = Arc::new((0..ROUNDS).map(|_| Round::new()).collect());
            let barrier = Arc::new(Barrier::new(THREADS as usize));
            let work = |id: u64| {
                let (rounds, barrier) = (Arc::clone(&rounds), Arc::clone(&barrier));
                move || {
                    let mut dice = Dice::new(seed * 1000 + id);
                    let led = rounds.iter().filter(|round| {
                        round.meet(&mut dice, id);
                        barrier.wait().is_leader()
                    });
                    led.count()
                }
            };
            let os: Vec<_> = (0..ON_OS).map(|id| os_thread(work(id))).collect();
            let on: Vec<_> = (ON_OS..THREADS)
                .map(|id| stage.runtime.spawn(work(id)))
                .collect();
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
            let mut led: usize = all(on).into_iter().sum();
            led += os
                .into_iter()
                .map(|os| os.join().expect("no panic"))
                .sum::<usize>();
            over.store(true, Ordering::SeqCst);
            interrupter.join().expect("no panic");
            assert_eq!(led, ROUNDS, "one leader each");
            for round in &*rounds {
                assert_eq!(round.made.load(Ordering::SeqCst), 1);
                assert_eq!(round.ran.load(Ordering::SeqCst), 1);
                assert_eq!(round.latch.count(), 0);
            }
        });
    }
}
