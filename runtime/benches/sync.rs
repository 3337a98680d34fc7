//! What does waiting for each other cost? `cargo bench -p vt-runtime --bench sync -- [MODE [CARRIERS [TIMES]]]`
//!
//! ```text
//!   uncontended  lock and unlock of one thread, each lock beside parking_lot's
//!   lock         1000 virtual threads x 1000 x lock and unlock of one mutex
//!   lockyield    the same with a yield while holding
//!   pingpong     round trips over two channels of one place
//!   semaphore    10,000 tasks of 1 ms, and of 10 ms, through 50 permits, beside the ideal time, and beside bare sleeps of an
//!                OS thread, one after the other
//! ```
//!
//! Each but `uncontended` and `semaphore` runs once to warm up. Without a mode all run, on one carrier and on two.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use vt_runtime::sync::{
    Monitor, Mutex, ReentrantLock, RwLock, Semaphore, mpsc, parking_lot as shape,
};
use vt_runtime::{Runtime, thread};

#[path = "machine/mod.rs"]
mod machine;

fn main() {
    let busy = machine::Busy::now();
    // Cargo adds flags of its own.
    let words: Vec<_> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let carriers = number(1).map_or(vec![1, 2], |carriers| vec![carriers as usize]);
    match words.first() {
        Some(mode) => run(mode, &carriers, number(2)),
        None => {
            for mode in ["uncontended", "lock", "lockyield", "pingpong", "semaphore"] {
                run(mode, &carriers, None);
            }
        }
    }
    println!("{}", busy.cores());
}

fn run(mode: &str, carriers: &[usize], times: Option<u64>) {
    if mode == "uncontended" {
        return uncontended(times.unwrap_or(3_000_000));
    }
    for &carriers in carriers {
        let runtime = Runtime::builder().carriers(carriers).build();
        let runtime = runtime.expect("carriers start");
        match mode {
            "lock" | "lockyield" => {
                let each = times.unwrap_or(1000);
                let ns = twice(|| contended(&runtime, each, mode == "lockyield"));
                println!(
                    "{mode} carriers={carriers} ns={:.1}",
                    ns / (1000 * each) as f64
                );
            }
            "pingpong" => {
                let times = times.unwrap_or(1_000_000);
                let ns = twice(|| ping_pong(&runtime, times));
                println!("pingpong carriers={carriers} ns={:.1}", ns / times as f64);
            }
            "semaphore" => {
                let tasks = times.unwrap_or(10_000);
                for millis in [1, 10] {
                    let pause = Duration::from_millis(millis);
                    let took = permits(&runtime, tasks, pause);
                    let ideal = tasks.div_ceil(50) as f64 * pause.as_secs_f64();
                    let lost = |took: Duration| (took.as_secs_f64() / ideal - 1.0) * 100.0;
                    let bare = bare_sleeps(tasks.div_ceil(50), pause);
                    println!(
                        "semaphore carriers={carriers} of {pause:?}: took={took:.2?} lost={:.1}% bare={:.1}%",
                        lost(took),
                        lost(bare),
                    );
                }
            }
            _ => eprintln!("no such mode: {mode}"),
        }
    }
}

/// Nanoseconds of the second run.
fn twice(work: impl Fn()) -> f64 {
    work();
    let begin = Instant::now();
    work();
    begin.elapsed().as_nanos() as f64
}

/// Rounds of each pair, ours and parking_lot's in turn.
const ROUNDS: usize = 9;

fn uncontended(times: u64) {
    let runtime = Runtime::builder().carriers(1).build().expect("a carrier");
    runtime.run(move || {
        let (mutex, theirs) = (Mutex::new(0u64), parking_lot::Mutex::new(0u64));
        let shaped = shape::Mutex::new(0u64);
        let beside_mutex = || *black_box(&theirs).lock() += 1;
        pair(times, "Mutex", beside_mutex, || {
            *black_box(&mutex).lock().expect("not poisoned") += 1;
        });
        pair(times, "parking_lot::Mutex", beside_mutex, || {
            *black_box(&shaped).lock() += 1;
        });

        let (rw, theirs) = (RwLock::new(0u64), parking_lot::RwLock::new(0u64));
        let shaped = shape::RwLock::new(0u64);
        let beside_read = || {
            black_box(*black_box(&theirs).read());
        };
        pair(times, "RwLock::read", beside_read, || {
            black_box(*black_box(&rw).read().expect("not poisoned"));
        });
        pair(times, "parking_lot::RwLock::read", beside_read, || {
            black_box(*black_box(&shaped).read());
        });
        let beside_write = || *black_box(&theirs).write() += 1;
        pair(times, "RwLock::write", beside_write, || {
            *black_box(&rw).write().expect("not poisoned") += 1;
        });
        pair(times, "parking_lot::RwLock::write", beside_write, || {
            *black_box(&shaped).write() += 1;
        });

        let theirs = parking_lot::ReentrantMutex::new(Cell::new(0u64));
        let (lock, monitor) = (
            ReentrantLock::new(Cell::new(0u64)),
            Monitor::new(Cell::new(0u64)),
        );
        let shaped = shape::ReentrantMutex::new(Cell::new(0u64));
        let more = |cell: &Cell<u64>| cell.set(cell.get() + 1);
        let beside_reentrant = || more(&black_box(&theirs).lock());
        pair(times, "ReentrantLock", beside_reentrant, || {
            more(&black_box(&lock).lock());
        });
        pair(
            times,
            "parking_lot::ReentrantMutex",
            beside_reentrant,
            || {
                more(&black_box(&shaped).lock());
            },
        );
        pair(times, "Monitor", beside_reentrant, || {
            more(&black_box(&monitor).enter());
        });
    });
}

/// Prints the medians of both, and their ratio.
fn pair(times: u64, name: &str, theirs: impl Fn(), ours: impl Fn()) {
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        own.push(nanos_each(times, &ours));
        other.push(nanos_each(times, &theirs));
    }
    let [own, other] = [own, other].map(|mut took| {
        took.sort_by(f64::total_cmp);
        took[ROUNDS / 2]
    });
    println!(
        "uncontended {name} ns={own:.2} parking_lot's={other:.2} ratio={:.2}",
        own / other
    );
}

fn nanos_each(times: u64, work: impl Fn()) -> f64 {
    let begin = Instant::now();
    (0..times).for_each(|_| work());
    begin.elapsed().as_nanos() as f64 / times as f64
}

fn contended(runtime: &Runtime, each: u64, yields: bool) {
    let mutex = Arc::new(Mutex::new(0u64));
    let threads: Vec<_> = (0..1000)
        .map(|_| {
            let mutex = Arc::clone(&mutex);
            runtime.spawn(move || {
                for _ in 0..each {
                    let mut count = mutex.lock().expect("not poisoned");
                    *count += 1;
                    if yields {
                        thread::yield_now();
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    assert_eq!(*mutex.lock().expect("not poisoned"), 1000 * each);
}

fn ping_pong(runtime: &Runtime, times: u64) {
    let (to, from) = mpsc::sync_channel(1);
    let (back_to, back_from) = mpsc::sync_channel(1);
    let one = runtime.spawn(move || {
        for n in 0..times {
            to.send(n).expect("it is received");
            back_from.recv().expect("it answers");
        }
    });
    let other = runtime.spawn(move || {
        for _ in 0..times {
            let n: u64 = from.recv().expect("it is sent");
            back_to.send(n).expect("it is received");
        }
    });
    one.join().expect("no panic");
    other.join().expect("no panic");
}

fn permits(runtime: &Runtime, tasks: u64, pause: Duration) -> Duration {
    let semaphore = Arc::new(Semaphore::new(50));
    let begin = Instant::now();
    let threads: Vec<_> = (0..tasks)
        .map(|_| {
            let semaphore = Arc::clone(&semaphore);
            runtime.spawn(move || {
                let _permit = semaphore.acquire();
                thread::sleep(pause);
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    begin.elapsed()
}

/// What the kernel makes of as many sleeps as one permit sees.
#[expect(
    clippy::disallowed_methods,
    reason = "an OS thread's sleep is what is measured"
)]
fn bare_sleeps(times: u64, pause: Duration) -> Duration {
    let begin = Instant::now();
    (0..times).for_each(|_| std::thread::sleep(pause));
    begin.elapsed()
}
