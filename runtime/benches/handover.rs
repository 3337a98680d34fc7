//! What does work cost that goes from one thread to another? `cargo bench -p vt-runtime --bench handover -- [CASE]`
//!
//! ```text
//!   unpark same    two threads of one carrier wake each other          unpark other   of two carriers
//!   unpark free    wherever two carriers place them                    channel ..     the same over two channels
//!   spawn 1, 2     threads spawned and joined in batches of 1000, on one carrier and on two
//! ```
//!
//! Each case runs [`ROUNDS`] times in a runtime of its own, in turn with the others. For each one line: least, median and
//! most nanoseconds a round trip (or a thread); how often carriers went to sleep for each hundred; how many of a hundred
//! threads ran on the second carrier; and how many cores other processes kept busy meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use vt_runtime::Runtime;
use vt_runtime::sync::mpsc;
use vt_runtime::thread::{self, Builder, JoinHandle};

#[path = "machine/mod.rs"]
mod machine;

const ROUNDS: usize = 15;
const TRIPS: u64 = 100_000;
const BATCHES: u64 = 100;
const BATCH: u64 = 1000;

/// Where the two threads live.
#[derive(Clone, Copy)]
enum Homes {
    Same,
    Other,
    Free,
}

impl Homes {
    /// The builder of the second thread; the first one lives where the second of `Same` does.
    fn builder(self, second: bool) -> Builder {
        match self {
            Self::Same => Builder::new().carrier(0),
            Self::Other => Builder::new().carrier(usize::from(second)),
            Self::Free => Builder::new(),
        }
    }
}

struct Case {
    name: &'static str,
    carriers: usize,
    operations: u64,
    run: fn() -> u64,
}

const CASES: [Case; 8] = [
    Case {
        name: "unpark same",
        carriers: 2,
        operations: TRIPS,
        run: || unpark(Homes::Same),
    },
    Case {
        name: "unpark other",
        carriers: 2,
        operations: TRIPS,
        run: || unpark(Homes::Other),
    },
    Case {
        name: "unpark free",
        carriers: 2,
        operations: TRIPS,
        run: || unpark(Homes::Free),
    },
    Case {
        name: "channel same",
        carriers: 2,
        operations: TRIPS,
        run: || channel(Homes::Same),
    },
    Case {
        name: "channel other",
        carriers: 2,
        operations: TRIPS,
        run: || channel(Homes::Other),
    },
    Case {
        name: "channel free",
        carriers: 2,
        operations: TRIPS,
        run: || channel(Homes::Free),
    },
    Case {
        name: "spawn 1",
        carriers: 1,
        operations: BATCHES * BATCH,
        run: spawn_and_join,
    },
    Case {
        name: "spawn 2",
        carriers: 2,
        operations: BATCHES * BATCH,
        run: spawn_and_join,
    },
];

#[derive(Default)]
struct Figures {
    nanos: Vec<f64>,
    sleeps: f64,
    second: f64,
}

fn main() {
    // Cargo adds flags of its own.
    let wanted: Vec<_> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let wanted = wanted.join(" ");
    let cases: Vec<_> = CASES
        .iter()
        .filter(|case| case.name.starts_with(&wanted))
        .collect();
    let mut figures: Vec<_> = cases.iter().map(|_| Figures::default()).collect();
    let busy = machine::Busy::now();
    for _ in 0..ROUNDS {
        for (case, figures) in cases.iter().zip(&mut figures) {
            measure(case, figures);
        }
    }
    for (case, figures) in cases.iter().zip(&mut figures) {
        figures.nanos.sort_by(f64::total_cmp);
        let all = &figures.nanos;
        println!(
            "{:<14} {:>7.0} {:>7.0} {:>7.0} ns; {:.2} sleeps and {:.0} on the second carrier of a hundred",
            case.name,
            all[0],
            all[all.len() / 2],
            all[all.len() - 1],
            figures.sleeps / ROUNDS as f64,
            figures.second / ROUNDS as f64,
        );
    }
    println!("{}", busy.cores());
}

fn measure(case: &Case, figures: &mut Figures) {
    let runtime = Runtime::builder().carriers(case.carriers).build();
    let runtime = runtime.expect("carriers start");
    let run = case.run;
    // As a program does that has been at work before.
    runtime.spawn(run).join().expect("no panic");
    let (slept, start) = (sleeps(), Instant::now());
    let second = runtime.spawn(run).join().expect("no panic");
    let hundreds = case.operations as f64 / 100.0;
    figures
        .nanos
        .push(start.elapsed().as_nanos() as f64 / case.operations as f64);
    figures.sleeps += (sleeps() - slept) as f64 / hundreds;
    figures.second += second as f64 / hundreds;
}

/// How often the carriers have given their cores up by themselves.
fn sleeps() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("procfs is mounted");
    let waits = |task: std::io::Result<std::fs::DirEntry>| {
        let status = std::fs::read_to_string(task.ok()?.path().join("status")).ok()?;
        if !status.starts_with("Name:\tvt-carrier") {
            return None;
        }
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse::<u64>().ok()
    };
    tasks.filter_map(waits).sum()
}

fn on_second() -> u64 {
    u64::from(thread::current_carrier() == Some(1))
}

fn sum(handles: Vec<JoinHandle<u64>>) -> u64 {
    handles
        .into_iter()
        .map(|handle| handle.join().expect("no panic"))
        .sum()
}

/// Says how many round trips were made between two carriers.
fn unpark(homes: Homes) -> u64 {
    let (give, take) = mpsc::channel();
    let first = homes.builder(false).spawn(move || {
        let other: thread::VirtualThread = take.recv().expect("a thread");
        for _ in 0..TRIPS {
            thread::park();
            other.unpark();
        }
        on_second()
    });
    let first = first.expect("spawned");
    let one = first.thread().clone();
    let second = homes.builder(true).spawn(move || {
        give.send(thread::current()).expect("a receiver");
        for _ in 0..TRIPS {
            one.unpark();
            thread::park();
        }
        on_second()
    });
    apart(first, second.expect("spawned"))
}

fn channel(homes: Homes) -> u64 {
    let (there, receiver) = mpsc::sync_channel(1);
    let (back, answers) = mpsc::sync_channel(1);
    let asks = homes.builder(false).spawn(move || {
        for trip in 0..TRIPS {
            there.send(trip).expect("a receiver");
            assert_eq!(answers.recv(), Ok(trip));
        }
        on_second()
    });
    let answers = homes.builder(true).spawn(move || {
        for trip in receiver {
            back.send(trip).expect("a receiver");
        }
        on_second()
    });
    apart(asks.expect("spawned"), answers.expect("spawned"))
}

fn apart(one: JoinHandle<u64>, other: JoinHandle<u64>) -> u64 {
    let homes = [one, other].map(|handle| handle.join().expect("no panic"));
    if homes[0] == homes[1] { 0 } else { TRIPS }
}

fn spawn_and_join() -> u64 {
    let total = Arc::new(AtomicU64::new(0));
    for _ in 0..BATCHES {
        let handles = (0..BATCH).map(|_| thread::spawn(on_second)).collect();
        total.fetch_add(sum(handles), Ordering::Relaxed);
    }
    total.load(Ordering::Relaxed)
}
