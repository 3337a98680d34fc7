//! What a recorder tells a client of its socket: facts as plain text, a recording.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::settings::throttle_text;
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
            ("throttle", throttle_text(settings.throttle)),
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
            ("throttled", counts(&stats.throttled)),
            ("evicted", counts(&stats.evicted)),
            ("dumps", stats.dumps.to_string()),
            ("last_error", error),
        ];
        facts.iter().fold(String::new(), |mut text, (name, value)| {
            let _ = writeln!(text, "{name} {value}");
            text
        })
    }

    /// A recording for a client of the socket.
    pub(crate) fn dump_for_client(&self, last: Option<Duration>) -> io::Result<Vec<u8>> {
        let mut contents = self.contents(last, "", "asked by vt-flight");
        let bytes = self.encode(&mut contents)?;
        self.shared.engine.lock().dumps += 1;
        Ok(bytes)
    }
}
