//! What does waiting for each other cost? `cargo bench -p vt-runtime --bench sync -- [MODE [CARRIERS [TIMES]]]`
//!
//! ```text
//!   uncontended  lock and unlock of one thread, beside parking_lot's
//!   lock         1000 virtual threads x 1000 x lock and unlock of one mutex
//!   lockyield    the same with a yield while holding
//!   pingpong     round trips over two channels of one place
//!   semaphore    10,000 tasks of 10 ms through 50 permits, beside the ideal time
//! ```
//!
//! Each but `uncontended` and `semaphore` runs once to warm up. Without a mode all run, on one carrier and on two.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use vt_runtime::sync::{Mutex, ReentrantLock, Semaphore, mpsc};
use vt_runtime::{Runtime, thread};

fn main() {
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
}

fn run(mode: &str, carriers: &[usize], times: Option<u64>) {
    if mode == "uncontended" {
        return uncontended(times.unwrap_or(20_000_000));
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
                let took = permits(&runtime, tasks);
                let ideal = tasks.div_ceil(50) as f64 * 0.01;
                let lost = (took.as_secs_f64() / ideal - 1.0) * 100.0;
                println!("semaphore carriers={carriers} took={took:.2?} lost={lost:.1}%");
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

fn uncontended(times: u64) {
    let runtime = Runtime::builder().carriers(1).build().expect("a carrier");
    runtime.run(|| {
        let (ours, theirs) = (Mutex::new(0u64), parking_lot::Mutex::new(0u64));
        let (again, theirs_again) = (
            ReentrantLock::new(std::cell::Cell::new(0u64)),
            parking_lot::ReentrantMutex::new(std::cell::Cell::new(0u64)),
        );
        let time = |name: &str, work: &dyn Fn()| {
            let begin = Instant::now();
            work();
            let ns = begin.elapsed().as_nanos() as f64 / times as f64;
            println!("uncontended {name} ns={ns:.2}");
        };
        for _ in 0..3 {
            time("Mutex", &|| {
                for _ in 0..times {
                    *black_box(&ours).lock().expect("not poisoned") += 1;
                }
            });
            time("parking_lot::Mutex", &|| {
                for _ in 0..times {
                    *black_box(&theirs).lock() += 1;
                }
            });
            time("ReentrantLock", &|| {
                for _ in 0..times {
                    let guard = black_box(&again).lock();
                    guard.set(guard.get() + 1);
                }
            });
            time("parking_lot::ReentrantMutex", &|| {
                for _ in 0..times {
                    let guard = black_box(&theirs_again).lock();
                    guard.set(guard.get() + 1);
                }
            });
        }
    });
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

fn permits(runtime: &Runtime, tasks: u64) -> Duration {
    let semaphore = Arc::new(Semaphore::new(50));
    let begin = Instant::now();
    let threads: Vec<_> = (0..tasks)
        .map(|_| {
            let semaphore = Arc::clone(&semaphore);
            runtime.spawn(move || {
                let _permit = semaphore.acquire();
                thread::sleep(Duration::from_millis(10));
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    begin.elapsed()
}
