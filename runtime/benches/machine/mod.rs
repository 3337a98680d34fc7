//! The machine that figures are taken on: how busy other processes kept its cores meanwhile.

use std::fmt;
use std::time::Instant;

/// Since when, and what processor time had been used then.
pub(crate) struct Busy {
    since: Instant,
    by_others: f64,
}

/// Cores that other processes kept busy, for the end of a line.
pub(crate) struct Cores(f64);

impl Busy {
    pub(crate) fn now() -> Self {
        Self {
            since: Instant::now(),
            by_others: by_others(),
        }
    }

    /// Cores that others kept busy since.
    pub(crate) fn cores(&self) -> Cores {
        let seconds = (by_others() - self.by_others).max(0.0);
        Cores(seconds / self.since.elapsed().as_secs_f64())
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "others kept {:.2} cores busy", self.0)
    }
}

/// Seconds that all processes but this one have used.
fn by_others() -> f64 {
    let all = std::fs::read_to_string("/proc/stat").expect("procfs is mounted");
    let own = std::fs::read_to_string("/proc/self/stat").expect("procfs is mounted");
    let sum = |text: &str, words: &[usize]| -> f64 {
        let text: Vec<_> = text.split_whitespace().collect();
        let number = |&at: &usize| text.get(at)?.parse::<f64>().ok();
        words.iter().filter_map(number).sum()
    };
    // `cpu`, user, nice, system, idle, waiting, interrupts, soft interrupts.
    let busy = sum(all.lines().next().unwrap_or_default(), &[1, 2, 3, 6, 7]);
    // The name ends with the last parenthesis; the two times are the 12th and 13th word after it.
    let after_name = own.rsplit_once(')').map_or("", |(_, rest)| rest);
    let own = sum(after_name, &[11, 12]);
    (busy - own) / rustix::param::clock_ticks_per_second() as f64
}
