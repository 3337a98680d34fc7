//! What does a suspended thread cost? `cargo bench -p vt-runtime --bench stacks -- [THREADS] [BACKEND]`
//!
//! Parks that many threads (100,000 by default), and says how long it took until they were spawned, and
//! until all had parked; what each keeps in memory, its record and handle included, and in page tables,
//! which no resident size shows; how often the runtime's OS threads woke in a second while all were parked; how long they
//! took to end; how soon after that the memory was back with the system, and how much of it stayed. The second round
//! finds stacks that have been used before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::thread::{self, Builder};
use vt_runtime::{Runtime, Stacks};

#[path = "machine/mod.rs"]
mod machine;

use machine::Busy;

fn main() {
    let mut threads = 100_000;
    let mut stacks = Stacks::default();
    // Cargo adds flags of its own.
    for argument in std::env::args().skip(1) {
        if let Ok(count) = argument.parse() {
            threads = count;
        } else if let Ok(backend) = argument.parse() {
            stacks = backend;
        }
    }
    let runtime = Runtime::builder().stacks(stacks).build();
    let runtime = runtime.expect("carriers start");
    println!("{threads} parked threads on {stacks} stacks:");
    for round in ["first", "second"] {
        park_and_release(&runtime, threads, round);
    }
    until_given_back(threads);
}

fn park_and_release(runtime: &Runtime, threads: usize, round: &str) {
    let busy = Busy::now();
    let (resident, tables) = (status("VmRSS"), status("VmPTE"));
    let begin = Instant::now();
    let started = Arc::new(AtomicUsize::new(0));
    let parked: Vec<_> = (0..threads)
        .map(|_| {
            let started = Arc::clone(&started);
            let thread = Builder::new().spawn_in(runtime, move || {
                started.fetch_add(1, Ordering::Relaxed);
                thread::park();
            });
            thread.expect("below the limit")
        })
        .collect();
    let spawned = begin.elapsed();
    while started.load(Ordering::Relaxed) < threads {
        std::thread::yield_now();
    }
    let suspended = begin.elapsed();
    let each = |now: usize, before: usize| now.saturating_sub(before) as f64 / threads as f64;
    let (resident, tables) = (
        each(status("VmRSS"), resident),
        each(status("VmPTE"), tables),
    );
    let woken = wakes_in_a_second();
    let begin = Instant::now();
    for thread in &parked {
        thread.thread().unpark();
    }
    for thread in parked {
        thread.join().expect("it ends well");
    }
    let ended = begin.elapsed();
    println!(
        "  {round}: spawned {spawned:.0?}, all parked {suspended:.0?}, all ended {ended:.0?}; \
         {resident:.2} KiB resident and {tables:.2} KiB of page tables more each; \
         {woken} wake-ups in a second while all were parked; {}",
        busy.cores()
    );
}

fn until_given_back(threads: usize) {
    let begin = Instant::now();
    while status("VmRSS") > threads && begin.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(20));
    }
    println!(
        "  after {:.1?} less than 1 KiB of each was resident ({} MiB in all)",
        begin.elapsed(),
        status("VmRSS") >> 10
    );
    let mut least = status("VmRSS");
    let mut since = Instant::now();
    while since.elapsed() < Duration::from_secs(3) && begin.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(20));
        let now = status("VmRSS");
        // Less than a mebibyte is no giving back.
        if now + 1024 < least {
            least = now;
            since = Instant::now();
        }
    }
    println!(
        "  after {:.1?} it had come to rest ({} MiB in all)",
        (begin.elapsed() - since.elapsed()),
        least >> 10
    );
}

/// How often this process's other OS threads have gone to sleep in a second, once the last mounts are over.
fn wakes_in_a_second() -> u64 {
    thread::sleep(Duration::from_millis(500));
    let before = sleeps_of_others();
    thread::sleep(Duration::from_secs(1));
    sleeps_of_others() - before
}

fn sleeps_of_others() -> u64 {
    let own = rustix::thread::gettid().as_raw_nonzero().to_string();
    let tasks = std::fs::read_dir("/proc/self/task").expect("procfs is mounted");
    let others = tasks.flatten().filter(|task| *task.file_name() != *own);
    let sleeps = others.filter_map(|task| {
        let status = std::fs::read_to_string(task.path().join("status")).ok()?;
        let line = status
            .lines()
            .find(|line| line.starts_with("voluntary_ctxt_switches"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    sleeps.sum()
}

/// A field of `/proc/self/status`, in KiB.
fn status(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("procfs is mounted");
    let line = status.lines().find(|line| line.starts_with(name));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.expect("the kernel reports it")
}
