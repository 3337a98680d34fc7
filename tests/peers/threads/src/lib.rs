//! What every contestant shares: which workload was asked for, and the one line of its result.
//!
//! A contestant runs one workload once: `contestant WORKLOAD ARGUMENTS..`, and prints `key=value` pairs. It warms up
//! with a part of the workload first, so that no figure includes the growth of its pools.

use std::time::{Duration, Instant};

/// One workload with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Threads spawned and joined, in batches of 1000.
    SpawnJoin { threads: u64 },
    /// Threads that sleep, all at once.
    Sleep { threads: u64, pause: Duration },
    /// Threads that yield to each other.
    Yield { threads: u64, turns: u64 },
    /// Messages sent there and back over channels between two threads.
    Channel { turns: u64 },
    /// Two threads that wake each other by park and unpark, or the peer's nearest thing.
    Unpark { turns: u64 },
    /// Threads that lock one mutex, and yield while they hold it or not.
    Lock {
        threads: u64,
        turns: u64,
        yielding: bool,
    },
    /// Tasks of 1 ms through a semaphore of 50 permits.
    Semaphore { tasks: u64 },
    /// [`Unpark`](Self::Unpark) where each wait sets a timer of an hour and cancels it.
    Timers { turns: u64 },
    /// 100 threads contend for one mutex: how unequal are their waits?
    Fairness { turns: u64 },
}

impl Workload {
    /// Reads `NAME SIZE..` from the program's arguments; ends the program with a message if it cannot.
    #[must_use]
    pub fn from_arguments() -> Self {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let name = words.first().map_or("", String::as_str);
        let number = |place: usize, default: u64| {
            words.get(place).map_or(default, |word| {
                word.parse()
                    .unwrap_or_else(|_| stop(&format!("`{word}` is not a whole number")))
            })
        };
        match name {
            "spawn-join" => Self::SpawnJoin {
                threads: number(1, 1_000_000),
            },
            "sleep" => Self::Sleep {
                threads: number(1, 100_000),
                pause: Duration::from_millis(number(2, 1000)),
            },
            "yield" => Self::Yield {
                threads: number(1, 1000),
                turns: number(2, 1000),
            },
            "channel" => Self::Channel {
                turns: number(1, 500_000),
            },
            "unpark" => Self::Unpark {
                turns: number(1, 500_000),
            },
            "lock" | "lock-yield" => Self::Lock {
                threads: number(1, 1000),
                turns: number(2, 1000),
                yielding: name == "lock-yield",
            },
            "semaphore" => Self::Semaphore {
                tasks: number(1, 10_000),
            },
            "timers" => Self::Timers {
                turns: number(1, 1_000_000),
            },
            "fairness" => Self::Fairness {
                turns: number(1, 2000),
            },
            _ => stop(&format!("no workload is called `{name}`")),
        }
    }

    /// A tenth of it, for the warm-up.
    #[must_use]
    pub fn tenth(self) -> Self {
        match self {
            Self::SpawnJoin { threads } => Self::SpawnJoin {
                threads: threads / 10,
            },
            Self::Yield { threads, turns } => Self::Yield {
                threads,
                turns: turns / 10,
            },
            Self::Channel { turns } => Self::Channel { turns: turns / 10 },
            Self::Unpark { turns } => Self::Unpark { turns: turns / 10 },
            Self::Lock {
                threads,
                turns,
                yielding,
            } => Self::Lock {
                threads,
                turns: turns / 10,
                yielding,
            },
            Self::Semaphore { tasks } => Self::Semaphore { tasks: tasks / 10 },
            Self::Timers { turns } => Self::Timers { turns: turns / 10 },
            Self::Fairness { turns } => Self::Fairness { turns: turns / 10 },
            // The machine's memory is part of what is measured: nothing is warmed up but the first thread.
            Self::Sleep { .. } => Self::Sleep {
                threads: 1,
                pause: Duration::ZERO,
            },
        }
    }

    /// Operations in it, by which the time is divided.
    #[must_use]
    pub fn operations(self) -> u64 {
        match self {
            Self::SpawnJoin { threads } | Self::Sleep { threads, .. } => threads,
            Self::Yield { threads, turns } | Self::Lock { threads, turns, .. } => threads * turns,
            Self::Channel { turns } | Self::Unpark { turns } | Self::Timers { turns } => turns,
            Self::Semaphore { tasks } => tasks,
            Self::Fairness { turns } => turns * 100,
        }
    }
}

fn stop(problem: &str) -> ! {
    eprintln!("error: {problem}");
    std::process::exit(2)
}

/// Workers or carriers: `WORKERS`, 2 unless set.
#[must_use]
pub fn workers() -> usize {
    std::env::var("WORKERS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(2)
}

/// Threads that live beside the workload: `LIVE`, none unless set.
#[must_use]
pub fn bystanders() -> u64 {
    std::env::var("LIVE")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// Runs the warm-up and the workload, and prints the result.
pub fn measure(mut run: impl FnMut(Workload)) {
    let workload = Workload::from_arguments();
    run(workload.tenth());
    let start = Instant::now();
    run(workload);
    let took = start.elapsed();
    let each = took.as_nanos() as f64 / workload.operations() as f64;
    println!(
        "ns={each:.1} ms={:.1} peak_kib={}",
        took.as_secs_f64() * 1e3,
        status("VmHWM:")
    );
}

/// How many of them were created in which time: printed by workloads that create many threads at once.
pub fn created(start: Instant) {
    print!("create_ms={:.1} ", start.elapsed().as_secs_f64() * 1e3);
}

/// Largest and median of the longest waits: printed by the fairness workload.
pub fn waits(mut longest: Vec<Duration>) {
    longest.sort_unstable();
    let (most, median) = (longest[longest.len() - 1], longest[longest.len() / 2]);
    print!(
        "max_us={} median_us={} ",
        most.as_micros(),
        median.as_micros()
    );
}

/// A figure of the process in KiB, 0 where the kernel does not tell.
fn status(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix(field))
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}
