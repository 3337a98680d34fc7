//! The machine the figures are taken on: which core a process stays on, and how busy others keep the cores.

use std::time::Instant;

use rustix::thread::{CpuSet, sched_setaffinity};

/// Keeps this process on that core, where there are several.
pub(crate) fn stay_on(core: usize) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // A process that came here from the other core sees one only.
    if cores > 1 || core == 0 {
        let mut only = CpuSet::new();
        only.set(core);
        // A machine that does not allow it is measured as it is.
        let _ = sched_setaffinity(None, &only);
    }
}

/// Lets this process run on every core again.
pub(crate) fn stay_anywhere() {
    let mut all = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|core| all.set(core));
    // The kernel takes those that there are.
    let _ = sched_setaffinity(None, &all);
}

/// Since when, and what all processes had used then.
pub(crate) struct Busy {
    since: Instant,
    all: f64,
    ours: f64,
}

impl Busy {
    pub(crate) fn now() -> Self {
        Self {
            since: Instant::now(),
            all: all(),
            ours: ours(),
        }
    }

    /// Cores that other processes took since. Our children count when they have been waited for.
    pub(crate) fn by_others(&self) -> f64 {
        let others = (all() - self.all) - (ours() - self.ours);
        (others / self.since.elapsed().as_secs_f64()).max(0.0)
    }
}

/// Seconds of all cores that were not idle.
fn all() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields: Vec<f64> = stat
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .map(|field| field.parse().unwrap_or(0.0))
        .collect();
    // user, nice, system, idle, iowait, irq, softirq
    let busy = fields.iter().take(7).sum::<f64>() - fields.iter().skip(3).take(2).sum::<f64>();
    busy / rustix::param::clock_ticks_per_second() as f64
}

/// Seconds of this process and its children that have ended.
fn ours() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = rest
        .split_whitespace()
        .skip(11)
        .take(4)
        .map(|field| field.parse().unwrap_or(0.0))
        .sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}
