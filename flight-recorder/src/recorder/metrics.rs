//! The runtime's and the recorder's metrics as OpenMetrics text.
//!
//! Written by hand: a page of text, which a test has a real Prometheus scrape (`docs/decisions.md`).

use std::fmt::{Display, Write as _};
use std::io;
use std::time::Duration;

use super::{FlightRecorder, scrape};
use crate::store::CLASS_NAMES;

/// The bounds of a histogram's buckets, in microseconds. What is counted under each is exact to a quarter of it.
const BOUNDS: [u64; 12] = [
    100, 1_000, 5_000, 10_000, 20_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 5_000_000,
    30_000_000,
];

impl FlightRecorder {
    fn pins_by_reason(
        &self,
        bounds: &[Duration],
    ) -> impl Iterator<Item = (&'static str, (Vec<u64>, u64, u64))> {
        let declared = self.shared.runtime.pin_sites();
        let engine = self.shared.engine.lock();
        engine.sites().by_reason(&declared, bounds).into_iter()
    }

    /// The runtime's and the recorder's metrics in OpenMetrics' text form, to be served to Prometheus:
    /// `Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8`.
    ///
    /// | name | what | Micrometer's for a JVM |
    /// | --- | --- | --- |
    /// | `vthread_pinned_seconds` | waits that kept a carrier, by `reason`; those below the threshold included | `jvm.threads.virtual.pinned` |
    /// | `vthread_live` | virtual threads by `state`: `new`, `runnable`, `waiting`, `pinned` | `jvm.threads.virtual.live` |
    /// | `vthread_started_total` | virtual threads spawned | |
    /// | `vthread_submit_failed_total` | spawns refused | `jvm.threads.virtual.submit.failed` |
    /// | `vthread_carriers` | carriers alive | `jvm.threads.virtual.pool.size` |
    /// | `vthread_compensations_total`, `..exhausted_total` | spare carriers started for blocked ones, and refused | |
    /// | `flight_recorder_lost_total` | records lost, by `class` | |
    /// | `flight_recorder_bytes`, `flight_recorder_dumps_total` | memory that records take, dumps written | |
    ///
    /// OpenTelemetry's names are the same with dots: `vthread.pinned`, unit `s`.
    #[must_use]
    pub fn metrics(&self) -> String {
        let (stats, runtime) = (self.stats(), self.shared.runtime.metrics());
        let mut text = Exposition::default();
        text.family(
            "vthread_pinned_seconds",
            "histogram",
            "Waits that kept a carrier, those below the threshold included.",
        );
        let bounds = BOUNDS.map(Duration::from_micros);
        for (reason, (counts, sum, all)) in self.pins_by_reason(&bounds) {
            let name = "vthread_pinned_seconds";
            for (bound, count) in bounds.iter().zip(counts) {
                let bound = bound.as_secs_f64();
                text.row(
                    format_args!("{name}_bucket{{reason=\"{reason}\",le=\"{bound}\"}}"),
                    count,
                );
            }
            text.row(
                format_args!("{name}_bucket{{reason=\"{reason}\",le=\"+Inf\"}}"),
                all,
            );
            text.row(format_args!("{name}_count{{reason=\"{reason}\"}}"), all);
            let sum = seconds(Duration::from_nanos(sum));
            text.row(format_args!("{name}_sum{{reason=\"{reason}\"}}"), sum);
        }
        text.family(
            "vthread_pinned_longest_seconds",
            "gauge",
            "The longest of them.",
        );
        for of in &runtime.pinned {
            let name = format_args!("vthread_pinned_longest_seconds{{reason=\"{}\"}}", of.reason);
            text.row(name, seconds(of.longest));
        }
        text.family(
            "vthread_live",
            "gauge",
            "Virtual threads spawned and not ended, by what they do.",
        );
        for (state, count) in self.shared.runtime.thread_states() {
            text.row(format_args!("vthread_live{{state=\"{state}\"}}"), count);
        }
        text.family("vthread_carriers", "gauge", "Carriers alive.");
        text.row("vthread_carriers", runtime.carriers);
        text.counter(
            "vthread_started",
            "Virtual threads spawned.",
            runtime.spawned,
        );
        text.counter("vthread_submit_failed", "Spawns refused.", runtime.refused);
        let help = "Spare carriers started for blocked ones.";
        text.counter("vthread_compensations", help, stats.compensations);
        let help = "Spare carriers refused.";
        text.counter(
            "vthread_compensations_exhausted",
            help,
            stats.compensations_refused,
        );
        text.family(
            "flight_recorder_lost",
            "counter",
            "Records lost before the recorder came to them.",
        );
        for class in CLASS_NAMES {
            let lost = stats.lost.iter().find(|(of, _)| *of == class);
            let count = lost.map_or(0, |(_, count)| *count);
            text.row(
                format_args!("flight_recorder_lost_total{{class=\"{class}\"}}"),
                count,
            );
        }
        text.family(
            "flight_recorder_bytes",
            "gauge",
            "Memory that records take.",
        );
        text.row("flight_recorder_bytes", stats.bytes);
        text.counter("flight_recorder_dumps", "Dumps written.", stats.dumps);
        text.0.push_str("# EOF\n");
        text.0
    }

    /// Serves [`metrics`](Self::metrics) to Prometheus at this address, such as `127.0.0.1:9464`, on
    /// any path, from a thread of its own. Anybody who can connect can read them: keep the address
    /// local. Gives the address it listens at.
    ///
    /// # Errors
    /// The address is in use or not to be had.
    pub fn serve_metrics(
        &self,
        address: impl std::net::ToSocketAddrs,
    ) -> io::Result<std::net::SocketAddr> {
        scrape::serve(self.downgrade(), std::net::TcpListener::bind(address)?)
    }
}

fn seconds(span: Duration) -> String {
    format!("{:.9}", span.as_secs_f64())
}

/// The text in the making.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# TYPE {name} {kind}\n# HELP {name} {help}");
    }

    fn row(&mut self, name: impl Display, value: impl Display) {
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "counter", help);
        self.row(format_args!("{name}_total"), value);
    }
}
