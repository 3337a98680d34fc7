//! Does anybody hang when a waiter cannot run? `cargo bench -p vt-runtime --bench stranded -- [SHAPE [ROUNDS]]`
//!
//! ```text
//!   successor  a lock is freed whose first waiter is stranded, with two pinned waiters behind it; barging and fair
//!   woken      something comes, its waiter is woken, then that waiter's carrier is blocked before the mount, for what
//!              only the next waiter can do; for lock, semaphore, channel and notify_one, blocked by a monitor, a foreign
//!              call and computing
//! ```
//!
//! 10,000 rounds each by default. A round that does not end in 20 s ends the process; every line that is printed held.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::sync::{Condvar, Monitor, Mutex, ReentrantLock, Semaphore, channel};
use vt_runtime::thread::{self, Builder, JoinHandle, ThreadState};
use vt_runtime::{Runtime, native};

#[path = "machine/mod.rs"]
mod machine;

fn main() {
    let busy = machine::Busy::now();
    // Cargo adds flags of its own.
    let words: Vec<_> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let rounds = words.get(1).and_then(|word| word.parse().ok());
    let rounds: u64 = rounds.unwrap_or(10_000);
    let stage = Stage::new();
    let shape = words.first().map(String::as_str);
    if shape.is_none_or(|shape| shape == "successor") {
        for fair in [false, true] {
            stage.time(&format!("successor fair={fair}"), rounds, |round| {
                stage.successor(fair, round);
            });
        }
    }
    if shape.is_none_or(|shape| shape == "woken") {
        for thing in [Thing::Lock, Thing::Semaphore, Thing::Channel, Thing::Notify] {
            for blocks in [Blocks::Monitor, Blocks::Native, Blocks::Computing] {
                stage.time(&format!("woken {thing:?} {blocks:?}"), rounds, |_| {
                    stage.woken(thing, blocks);
                });
            }
        }
    }
    println!("{}", busy.cores());
}

/// What is waited for.
#[derive(Clone, Copy, Debug)]
enum Thing {
    Lock,
    Semaphore,
    Channel,
    Notify,
}

/// What keeps the carrier.
#[derive(Clone, Copy, Debug)]
enum Blocks {
    Monitor,
    Native,
    Computing,
}

struct Stage {
    runtime: Runtime,
    done: Arc<AtomicU64>,
}

impl Stage {
    fn new() -> Self {
        let runtime = Runtime::builder().carriers(2).max_carriers(2).build();
        let done = Arc::<AtomicU64>::default();
        let seen = Arc::clone(&done);
        let watch = move || {
            let mut before = u64::MAX;
            loop {
                let now = seen.load(Ordering::Relaxed);
                if now == before {
                    eprintln!("round {now} has not ended after 20 s");
                    std::process::abort();
                }
                before = now;
                thread::sleep(Duration::from_secs(20));
            }
        };
        let watcher = std::thread::Builder::new()
            .name("watcher".into())
            .spawn(watch);
        drop(watcher.expect("one thread more"));
        Self {
            runtime: runtime.expect("carriers start"),
            done,
        }
    }

    fn time(&self, what: &str, rounds: u64, round: impl Fn(u64)) {
        let begin = Instant::now();
        for n in 0..rounds {
            round(n);
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        let each = begin.elapsed().as_secs_f64() * 1e6 / rounds as f64;
        println!("{what}: {rounds} rounds without a hang, {each:.0} us each");
    }

    fn spawn(&self, carrier: usize, f: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
        let thread = Builder::new().carrier(carrier).spawn_in(&self.runtime, f);
        thread.expect("below the limit")
    }

    fn until(&self, thread: &JoinHandle<()>, state: ThreadState) {
        let id = thread.thread().id();
        let is_so = || {
            let threads = self.runtime.threads();
            threads
                .iter()
                .any(|info| info.id == id && info.state == state)
        };
        while !is_so() {
            std::thread::yield_now();
        }
    }

    fn successor(&self, fair: bool, round: u64) {
        let lock = Arc::new(ReentrantLock::new(()).fair(fair));
        let guard = lock.lock();
        let waits = Arc::clone(&lock);
        let first = self.spawn(0, move || drop(waits.lock()));
        self.until(&first, ThreadState::Waiting);
        let pinned = [0, 1].map(|carrier| {
            let lock = Arc::clone(&lock);
            let thread = self.spawn(carrier, move || {
                let own = Monitor::new(());
                let _pinned = own.enter();
                drop(lock.lock());
            });
            self.until(&thread, ThreadState::Pinned);
            thread
        });
        // A delay of 0 to 200 us, spread over the rounds.
        let (begin, delay) = (Instant::now(), Duration::from_micros(round * 79 % 201));
        while begin.elapsed() < delay {
            std::hint::spin_loop();
        }
        drop(guard);
        for thread in pinned.into_iter().chain([first]) {
            thread.join().expect("no panic");
        }
    }

    fn woken(&self, thing: Thing, blocks: Blocks) {
        let mark = Arc::new(Mark::new());
        let begin = Arc::new(Semaphore::new(0));
        let (waits, releases): (Arc<dyn Fn() + Send + Sync>, Releases) = make(thing);
        let (marked, started, is_ready) = (
            Arc::clone(&mark),
            Arc::clone(&begin),
            Arc::new(Semaphore::new(0)),
        );
        let ready = Arc::clone(&is_ready);
        let pins = self.spawn(0, move || {
            let mut release = releases();
            ready.add_permits(1);
            started.acquire().forget();
            release();
            blocks.until(&marked);
            release();
        });
        is_ready.acquire().forget();
        let waiters = [0, 1].map(|carrier| {
            let (waits, mark) = (Arc::clone(&waits), Arc::clone(&mark));
            let waiter = self.spawn(carrier, move || {
                waits();
                mark.set();
            });
            self.until(&waiter, ThreadState::Waiting);
            waiter
        });
        begin.add_permits(1);
        for thread in waiters.into_iter().chain([pins]) {
            thread.join().expect("no panic");
        }
    }
}

/// Run in the thread that blocks its carrier: makes the thing busy, and gives what brings one turn of it.
type Releases = Box<dyn FnOnce() -> Box<dyn FnMut()> + Send>;

fn make(thing: Thing) -> (Arc<dyn Fn() + Send + Sync>, Releases) {
    match thing {
        Thing::Lock => {
            let lock = Arc::new(Mutex::new(()));
            let held = Arc::clone(&lock);
            let releases = move || -> Box<dyn FnMut()> {
                // The guard borrows from a lock that outlives the thread: it is leaked.
                let held: &'static Mutex<()> = Box::leak(Box::new(held));
                let mut guard = held.lock().ok();
                Box::new(move || drop(guard.take()))
            };
            (Arc::new(move || drop(lock.lock())), Box::new(releases))
        }
        Thing::Semaphore => {
            let permits = Arc::new(Semaphore::new(0));
            let added = Arc::clone(&permits);
            let releases = move || -> Box<dyn FnMut()> { Box::new(move || added.add_permits(1)) };
            (
                Arc::new(move || permits.acquire().forget()),
                Box::new(releases),
            )
        }
        Thing::Channel => {
            let (sender, receiver) = channel::unbounded();
            let releases = move || -> Box<dyn FnMut()> {
                Box::new(move || sender.send(()).expect("it is received"))
            };
            let receive = move || receiver.recv().expect("it is sent");
            (Arc::new(receive), Box::new(releases))
        }
        Thing::Notify => {
            let shared = Arc::new((Mutex::new(0), Condvar::new()));
            let told = Arc::clone(&shared);
            let releases = move || -> Box<dyn FnMut()> {
                Box::new(move || {
                    *told.0.lock().expect("not poisoned") += 1;
                    told.1.notify_one();
                })
            };
            let wait = move || {
                let count = shared.0.lock().expect("not poisoned");
                let mut count = shared
                    .1
                    .wait_while(count, |n| *n == 0)
                    .expect("not poisoned");
                *count -= 1;
            };
            (Arc::new(wait), Box::new(releases))
        }
    }
}

/// What the blocked thread waits for, in each of its ways.
struct Mark {
    is_set: AtomicBool,
    permits: Semaphore,
    lock: parking_lot::Mutex<()>,
    signal: parking_lot::Condvar,
}

impl Mark {
    fn new() -> Self {
        Self {
            is_set: AtomicBool::new(false),
            permits: Semaphore::new(0),
            lock: parking_lot::Mutex::new(()),
            signal: parking_lot::Condvar::new(),
        }
    }

    fn set(&self) {
        self.is_set.store(true, Ordering::SeqCst);
        self.permits.add_permits(1);
        drop(self.lock.lock());
        self.signal.notify_all();
    }
}

impl Blocks {
    fn until(self, mark: &Mark) {
        match self {
            Self::Monitor => {
                let own = Monitor::new(());
                let _pinned = own.enter();
                mark.permits.acquire().forget();
            }
            Self::Native => native::call("until the next one has had it", || {
                let mut lock = mark.lock.lock();
                while !mark.is_set.load(Ordering::SeqCst) {
                    mark.signal.wait(&mut lock);
                }
            }),
            Self::Computing => {
                while !mark.is_set.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
            }
        }
    }
}
