//! What a recorder tells while it runs: facts, virtual threads, metrics. Plain text, for the socket
//! and for whoever serves it otherwise.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::{FlightRecorder, Shared, environment};

impl FlightRecorder {
    pub(crate) fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.shared)
    }

    pub(crate) fn upgrade(weak: &Weak<Shared>) -> Option<Self> {
        Some(Self {
            shared: weak.upgrade()?,
        })
    }

    /// Tells where the socket is, so that it goes with the recorder.
    pub(crate) fn listens_at(&self, socket: std::path::PathBuf) {
        // A recorder has one.
        let _ = self.shared.socket.set(socket);
    }

    /// Facts as lines of `name value`.
    pub(crate) fn status(&self) -> String {
        let (stats, settings) = (self.stats(), self.settings());
        let metrics = self.shared.runtime.metrics();
        let threshold = self.shared.runtime.pin_threshold();
        let counts = |counts: &[(&str, u64)]| {
            let texts: Vec<_> = counts
                .iter()
                .map(|(class, n)| format!("{class} {n}"))
                .collect();
            if texts.is_empty() {
                "none".to_owned()
            } else {
                texts.join(", ")
            }
        };
        let error = stats
            .last_error
            .as_deref()
            .unwrap_or("none")
            .replace('\n', " ");
        let facts = [
            ("program", environment::program()),
            ("pid", std::process::id().to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("settings", settings.name),
            ("pin_threshold", format!("{threshold:?}")),
            ("carriers", metrics.carriers.to_string()),
            ("virtual_threads", metrics.live.to_string()),
            (
                "pinned_now",
                self.shared.runtime.open_pins().len().to_string(),
            ),
            ("records", stats.records.to_string()),
            ("bytes", stats.bytes.to_string()),
            ("recorded", stats.recorded.to_string()),
            ("lost", counts(&stats.lost)),
            ("evicted", counts(&stats.evicted)),
            ("dumps", stats.dumps.to_string()),
            ("last_error", error),
        ];
        facts.iter().fold(String::new(), |mut text, (name, value)| {
            let _ = writeln!(text, "{name} {value}");
            text
        })
    }

    /// Virtual threads, one a line, fields separated by tabs.
    pub(crate) fn thread_list(&self) -> String {
        let clean = |text: &str| text.replace(['\t', '\n'], " ");
        let nanos =
            |span: Option<Duration>| span.map_or(String::new(), |span| span.as_nanos().to_string());
        let mut text = String::new();
        for thread in self.shared.runtime.threads() {
            let number = |number: Option<u64>| number.map_or(String::new(), |n| n.to_string());
            let fields = [
                thread.id.to_string(),
                clean(&thread.name),
                thread.state.to_string(),
                number(thread.carrier.map(|carrier| carrier as u64)),
                clean(thread.waits_for.as_deref().unwrap_or_default()),
                number(thread.waits_owner),
                nanos(thread.since),
                nanos(thread.pinned_for),
                clean(thread.native.unwrap_or_default()),
                number(thread.parent),
            ];
            text.push_str(&fields.join("\t"));
            text.push('\n');
        }
        text
    }

    /// The runtime's and the recorder's metrics in OpenMetrics' text form, to be served to Prometheus:
    /// `Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8`.
    #[must_use]
    pub fn metrics(&self) -> String {
        let (stats, runtime) = (self.stats(), self.shared.runtime.metrics());
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, rows: &[(String, String)]| {
            let _ = writeln!(text, "# TYPE {name} {kind}\n# HELP {name} {help}");
            for (row, value) in rows {
                let _ = writeln!(text, "{row} {value}");
            }
        };
        let single = |name: &str, value: u64| [(name.to_owned(), value.to_string())];
        let seconds = |span: Duration| format!("{:.9}", span.as_secs_f64());
        let pinned: Vec<_> = runtime
            .pinned
            .iter()
            .flat_map(|of| {
                let label = format!("{{reason=\"{}\"}}", of.reason);
                [
                    (
                        format!("vthread_pinned_seconds_count{label}"),
                        of.count.to_string(),
                    ),
                    (
                        format!("vthread_pinned_seconds_sum{label}"),
                        seconds(of.total),
                    ),
                ]
            })
            .collect();
        let help = "Waits that kept a carrier, those below the threshold included.";
        family("vthread_pinned_seconds", "summary", help, &pinned);
        let longest: Vec<_> = runtime
            .pinned
            .iter()
            .map(|of| {
                let row = format!("vthread_pinned_longest_seconds{{reason=\"{}\"}}", of.reason);
                (row, seconds(of.longest))
            })
            .collect();
        family(
            "vthread_pinned_longest_seconds",
            "gauge",
            "The longest of them.",
            &longest,
        );
        let help = "Virtual threads spawned and not ended.";
        family(
            "vthread_live",
            "gauge",
            help,
            &single("vthread_live", runtime.live as u64),
        );
        let carriers = single("vthread_carriers", runtime.carriers as u64);
        family("vthread_carriers", "gauge", "Carriers alive.", &carriers);
        let open = self.shared.runtime.open_pins().len() as u64;
        let help = "Virtual threads that keep their carrier at this moment.";
        family(
            "vthread_pinned_now",
            "gauge",
            help,
            &single("vthread_pinned_now", open),
        );
        let spawned = single("vthread_started_total", runtime.spawned);
        family(
            "vthread_started",
            "counter",
            "Virtual threads spawned.",
            &spawned,
        );
        let refused = single("vthread_submit_failed_total", runtime.refused);
        family(
            "vthread_submit_failed",
            "counter",
            "Spawns refused.",
            &refused,
        );
        let lost: Vec<_> = stats
            .lost
            .iter()
            .map(|(class, n)| {
                (
                    format!("flight_recorder_lost_total{{class=\"{class}\"}}"),
                    n.to_string(),
                )
            })
            .collect();
        let help = "Records lost before the recorder came to them.";
        family("flight_recorder_lost", "counter", help, &lost);
        let bytes = single("flight_recorder_bytes", stats.bytes);
        family(
            "flight_recorder_bytes",
            "gauge",
            "Memory that records take.",
            &bytes,
        );
        text.push_str("# EOF\n");
        text
    }

    /// A recording for a client of the socket.
    pub(crate) fn dump_for_client(&self, last: Option<Duration>) -> io::Result<Vec<u8>> {
        let contents = self.contents(last, "", "asked by vt-flight");
        let symbols = super::SharedSymbols(self.shared.symbols.clone());
        let bytes = contents.write(Vec::new(), symbols)?;
        self.shared.engine.lock().dumps += 1;
        Ok(bytes)
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
        super::scrape::serve(self.downgrade(), std::net::TcpListener::bind(address)?)
    }
}
