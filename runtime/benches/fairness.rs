//! How long does the unluckiest of 100 contenders wait? `cargo bench -p vt-runtime --bench fairness -- [SECONDS]`
//!
//! 100 virtual threads on two carriers take one lock again and again, hold it over a yield, and measure each wait. For
//! each lock one line: the longest wait, the median, their ratio, and how often the luckiest had the lock for each time
//! of the unluckiest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::sync::{Mutex, ReentrantLock, Semaphore};
use vt_runtime::{Runtime, thread};

const CONTENDERS: usize = 100;

#[path = "machine/mod.rs"]
mod machine;

fn main() {
    let busy = machine::Busy::now();
    // Cargo adds flags of its own.
    let seconds = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let time = Duration::from_secs_f64(seconds.unwrap_or(2.0));
    let mutex = Arc::new(Mutex::new(()));
    measure("Mutex", time, move |inside| {
        let _guard = mutex.lock().expect("not poisoned");
        inside();
    });
    for fair in [false, true] {
        let lock = Arc::new(ReentrantLock::new(()).fair(fair));
        measure(&format!("ReentrantLock fair={fair}"), time, move |inside| {
            let _guard = lock.lock();
            inside();
        });
    }
    let semaphore = Arc::new(Semaphore::new(1));
    measure("Semaphore", time, move |inside| {
        let _permit = semaphore.acquire();
        inside();
    });
    println!("{}", busy.cores());
}

fn measure(name: &str, time: Duration, hold: impl Fn(&mut dyn FnMut()) + Clone + Send + 'static) {
    let runtime = Runtime::builder().carriers(2).build().expect("carriers");
    let over = Arc::new(AtomicBool::new(false));
    let contenders: Vec<_> = (0..CONTENDERS)
        .map(|_| {
            let (hold, over) = (hold.clone(), Arc::clone(&over));
            runtime.spawn(move || {
                let mut waits = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    let begin = Instant::now();
                    hold(&mut || {
                        waits.push(begin.elapsed());
                        thread::yield_now();
                    });
                }
                waits
            })
        })
        .collect();
    thread::sleep(time);
    over.store(true, Ordering::Relaxed);
    let waits: Vec<_> = contenders
        .into_iter()
        .map(|contender| contender.join().expect("no panic"))
        .collect();
    let turns = waits.iter().map(Vec::len);
    let (most, fewest) = (turns.clone().max(), turns.min());
    let mut every: Vec<_> = waits.into_iter().flatten().collect();
    every.sort_unstable();
    let (longest, median) = (every[every.len() - 1], every[every.len() / 2]);
    println!(
        "{name}: {} turns, longest wait {longest:.1?}, median {median:.1?}, ratio {:.1}; most and fewest turns of one {:.2}",
        every.len(),
        longest.as_secs_f64() / median.as_secs_f64(),
        most.unwrap_or(0) as f64 / fewest.unwrap_or(0).max(1) as f64,
    );
}
