//! What a process uses of the machine, as the kernel tells it.

use std::time::Duration;

/// A reading, or the difference of two.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Processor time, the kernel's included.
    pub(crate) cpu: Duration,
    /// Of it in the kernel.
    pub(crate) system: Duration,
    pub(crate) rss_kib: u64,
    pub(crate) threads: u64,
}

impl Usage {
    /// Of that process; zeros if it is gone.
    pub(crate) fn of(process: u32) -> Self {
        let file = |name: &str| {
            std::fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default()
        };
        let (stat, status) = (file("stat"), file("status"));
        // The name, in parentheses, may hold anything.
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let ticks = |at: usize| fields.get(at).and_then(|text| text.parse().ok());
        let per_second = rustix::param::clock_ticks_per_second();
        let time = |at| Duration::from_millis(ticks(at).unwrap_or(0_u64) * 1000 / per_second);
        let field = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
                .unwrap_or(0)
        };
        Self {
            cpu: time(11) + time(12),
            system: time(12),
            rss_kib: field("VmRSS:"),
            threads: field("Threads:"),
        }
    }

    /// The times since `earlier`, and the larger of both otherwise.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            system: self.system.saturating_sub(earlier.system),
            ..self.largest(earlier)
        }
    }

    /// Keeps the larger amounts.
    pub(crate) fn largest(self, other: Self) -> Self {
        Self {
            rss_kib: self.rss_kib.max(other.rss_kib),
            threads: self.threads.max(other.threads),
            ..self
        }
    }
}
