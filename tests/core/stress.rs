//! Everything at once, at random: spawn, steal, interrupt, panic, sleep, join, pin, scope, offload, shut down.
//!
//! `VT_STRESS_SECONDS` says for how long (2 by default); `VT_STRESS_SEED` repeats the choices of a run, whose seed
//! is printed. The order of threads is the machine's, so that a failure may need several runs of its seed.
//! `VT_STRESS_SECONDS=600 cargo test -p vt-tests --test core -- stress --nocapture`

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::sync::{Monitor, Mutex, ReentrantLock, Semaphore, mpsc};
use vt_runtime::thread::{self, Builder, JoinHandle, VirtualThread};
use vt_runtime::{Runtime, Stacks};
use vt_tests::Deadline;

/// Threads of a round that have not ended, at most: a spawn beyond it runs nothing.
const MOST: u64 = 2000;

/// A small generator (xorshift): each thread has its own, seeded by who spawned it.
struct Dice(Cell<u64>);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(Cell::new(seed | 1))
    }

    fn roll(&self) -> u64 {
        let mut state = self.0.get();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.0.set(state);
        state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&self, limit: u64) -> u64 {
        self.roll() % limit
    }
}

/// What the threads of a round share.
struct Round {
    /// Tokens made and dropped: equal at the end, or a destructor was skipped.
    made: AtomicU64,
    dropped: AtomicU64,
    live: AtomicU64,
    known: Mutex<Vec<VirtualThread>>,
    counted: Mutex<u64>,
    locked: ReentrantLock<Cell<u64>>,
    monitored: Monitor<Cell<u64>>,
    permits: Semaphore,
    until: Instant,
}

/// Made by each thread; counts its own drop.
struct Token(Arc<Round>);

impl Token {
    fn of(round: &Arc<Round>) -> Self {
        round.made.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(round))
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// The unwinding of a thread that fails on purpose; without a hook's output.
fn fail() -> ! {
    resume_unwind(Box::new("on purpose"))
}

fn spawn(round: &Arc<Round>, dice: &Dice) -> Option<JoinHandle<Token>> {
    if round.live.load(Ordering::Relaxed) >= MOST || Instant::now() >= round.until {
        return None;
    }
    round.live.fetch_add(1, Ordering::Relaxed);
    let (seed, token) = (dice.roll(), Token::of(round));
    let mut builder = Builder::new();
    if dice.below(8) == 0 {
        builder = builder.stack_size(64 << 10 << dice.below(4));
    }
    let spawned = builder.spawn(move || {
        let round = Arc::clone(&token.0);
        let live = Live(Arc::clone(&round));
        work(&round, &Dice::new(seed));
        drop(live);
        token
    });
    // Refused after the shutdown has begun; the token is dropped with the closure.
    spawned.ok()
}

struct Live(Arc<Round>);

impl Drop for Live {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, Ordering::Relaxed);
    }
}

fn work(round: &Arc<Round>, dice: &Dice) {
    let home = thread::current_carrier();
    let canary = dice.roll();
    let mut children = Vec::new();
    round
        .known
        .lock()
        .expect("not poisoned")
        .push(thread::current());
    for _ in 0..=dice.below(6) {
        act(round, dice, &mut children);
        assert_eq!(
            thread::current_carrier(),
            home,
            "a thread stays on its carrier"
        );
    }
    for child in children {
        match dice.below(3) {
            0 => drop(child),
            1 => drop(child.join()),
            _ => drop(child.join_interruptibly()),
        }
    }
    std::hint::black_box(canary);
    if dice.below(20) == 0 {
        fail();
    }
}

fn act(round: &Arc<Round>, dice: &Dice, children: &mut Vec<JoinHandle<Token>>) {
    let micros = |limit| Duration::from_micros(dice.below(limit));
    match dice.below(14) {
        0..=2 => children.extend(spawn(round, dice)),
        3 => thread::yield_now(),
        4 => thread::sleep(micros(2000)),
        5 => drop(thread::sleep_interruptibly(micros(3000))),
        6 => thread::park_timeout(micros(2000)),
        7 => disturb(round, dice),
        8 => *round.counted.lock().expect("not poisoned") += 1,
        9 => {
            let guard = round.locked.lock();
            guard.set(guard.get() + 1);
            if dice.below(4) == 0 {
                thread::yield_now();
            }
        }
        10 => {
            // Pinned, for a moment.
            let guard = round.monitored.enter();
            guard.set(guard.get() + 1);
            if dice.below(16) == 0 {
                thread::sleep(micros(200));
            }
        }
        11 => {
            let mut halves = [0_u64; 2];
            let ran: Vec<bool> = thread::scope(|s| {
                let each = halves.iter_mut().map(|half| {
                    let seed = dice.roll() | 1;
                    s.spawn_with(Builder::new(), move || {
                        if seed.is_multiple_of(3) {
                            thread::yield_now();
                        }
                        *half = seed;
                    })
                });
                let both: Vec<_> = each.collect();
                // One that a shutdown refused, or kept from its beginning, has not run.
                both.into_iter()
                    .map(|half| half.is_ok_and(|half| half.join().is_ok()))
                    .collect()
            });
            let wrote: Vec<bool> = halves.iter().map(|&half| half != 0).collect();
            assert_eq!(ran, wrote, "who ran has written before the scope ended");
        }
        12 => {
            let _permit = round.permits.acquire();
            let rolled = dice.roll();
            assert_eq!(vt_runtime::blocking(move || rolled + 1), rolled + 1);
        }
        _ => {
            let (sender, receiver) = mpsc::channel();
            let limit = micros(3000);
            let child = Builder::new().spawn(move || sender.send(1).is_ok());
            // None after the shutdown has begun.
            let sent = receiver.recv_timeout(limit).is_ok();
            assert!(child.is_ok() || !sent, "nobody else sends");
        }
    }
    deepen(dice.below(12), dice);
}

/// Uses the stack, and finds it as it was.
#[inline(never)]
fn deepen(depth: u64, dice: &Dice) -> u64 {
    let mark = dice.roll();
    let frame = std::hint::black_box([mark; 64]);
    if depth > 0 {
        deepen(depth - 1, dice);
        if depth == 6 {
            thread::yield_now();
        }
    }
    assert!(
        frame.iter().all(|&word| word == mark),
        "another thread wrote here"
    );
    frame[0]
}

/// Unparks or interrupts somebody.
fn disturb(round: &Round, dice: &Dice) {
    let mut known = round.known.lock().expect("not poisoned");
    if known.len() > 4 * MOST as usize {
        known.clear();
    }
    if known.is_empty() {
        return;
    }
    let index = dice.below(known.len() as u64) as usize;
    let somebody = known.swap_remove(index);
    drop(known);
    if dice.below(2) == 0 {
        somebody.unpark();
    } else {
        somebody.interrupt();
    }
}

fn one_round(dice: &Dice) -> u64 {
    let stacks = if dice.below(2) == 0 {
        Stacks::Dense
    } else {
        Stacks::Generator
    };
    let carriers = 1 + dice.below(4) as usize;
    let runtime = Runtime::builder().stacks(stacks).carriers(carriers).build();
    let runtime = runtime.expect("carriers start");
    let round = Arc::new(Round {
        made: AtomicU64::new(0),
        dropped: AtomicU64::new(0),
        live: AtomicU64::new(0),
        known: Mutex::default(),
        counted: Mutex::default(),
        locked: ReentrantLock::new(Cell::new(0)),
        monitored: Monitor::new(Cell::new(0)),
        permits: Semaphore::new(3),
        until: Instant::now() + Duration::from_millis(dice.below(400)),
    });
    let roots: Vec<_> = (0..1 + dice.below(8))
        .map(|_| {
            let (round, seed) = (Arc::clone(&round), dice.roll());
            runtime.spawn(move || {
                let dice = Dice::new(seed);
                while Instant::now() < round.until {
                    let child = spawn(&round, &dice);
                    if dice.below(4) == 0 {
                        drop(child.map(JoinHandle::join));
                    } else {
                        drop(child);
                    }
                    if dice.below(8) == 0 {
                        thread::sleep(Duration::from_micros(dice.below(500)));
                    }
                }
            })
        })
        .collect();
    // In the middle of it, or after it.
    if dice.below(2) == 0 {
        roots
            .into_iter()
            .for_each(|root| root.join().expect("no panic"));
    }
    let report = runtime.shutdown(Duration::from_millis(dice.below(50)));
    // Those that were computing or inside a foreign call end by themselves.
    let spawned = runtime.metrics().spawned;
    while runtime.metrics().live > 0 {
        std::thread::yield_now();
    }
    assert_eq!(
        runtime.metrics().leaked_stacks,
        0,
        "nobody swallows a cancel: {report:?}"
    );
    round.known.lock().expect("not poisoned").clear();
    let counts = || {
        (
            round.made.load(Ordering::SeqCst),
            round.dropped.load(Ordering::SeqCst),
        )
    };
    // A result is dropped a moment after the place of its thread is free, where nobody joins it.
    while counts().0 != counts().1 {
        std::thread::yield_now();
    }
    spawned
}

#[test]
fn stress() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let seconds = number("VT_STRESS_SECONDS").unwrap_or(2);
    let seed = number("VT_STRESS_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(1, |now| now.subsec_nanos().into())
    });
    println!("VT_STRESS_SEED={seed}");
    let _deadline = Deadline::after(Duration::from_secs(seconds + 120));
    let dice = Dice::new(seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut rounds, mut threads) = (0, 0);
    while Instant::now() < end {
        threads += one_round(&dice);
        rounds += 1;
    }
    println!("{rounds} rounds, {threads} threads");
}
