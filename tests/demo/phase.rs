//! One phase: the service on a runtime of its own, recorded, under load.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use vt_flight_recorder::{FlightRecorder, Pin, Reader};
use vt_runtime::event::{Event, Pinned};
use vt_runtime::{Runtime, RuntimeBuilder};

use crate::checkout::Checkout;
use crate::database::Database;
use crate::{http, load, payments};

/// Carriers of the service.
pub(crate) const CARRIERS: usize = 2;

/// Why the demo stops: something could not be done, or a claim did not hold.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// For `map_err`: what was being done when an error came.
    pub(crate) fn while_<E: fmt::Display>(doing: &str) -> impl FnOnce(E) -> Self + '_ {
        move |error| Self(format!("{doing}: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a phase showed.
pub(crate) struct Phase {
    pub(crate) measured: load::Measured,
    /// Pins by the two lines that made them, the costliest first.
    pub(crate) sites: Vec<Site>,
    pub(crate) recording: PathBuf,
}

/// One pair of lines: where the pin was taken, and where the thread waited under it.
pub(crate) struct Site {
    pub(crate) pinned_at: String,
    pub(crate) blocked_at: String,
    pub(crate) count: u64,
    pub(crate) total: Duration,
    /// Time that others were ready and could not run.
    pub(crate) stranded: Duration,
}

impl Phase {
    /// Runs the service with that checkout under load, and reads its recording back.
    pub(crate) fn run<C: Checkout>(
        name: &str,
        folder: &Path,
        port: u16,
        time: Duration,
    ) -> Result<Self, Failure> {
        let start = |builder: RuntimeBuilder| builder.carriers(CARRIERS).build();
        let world = start(Runtime::builder()).map_err(Failure::while_("the clients' runtime"))?;
        let service =
            start(Runtime::builder()).map_err(Failure::while_("the service's runtime"))?;
        let (_layer, recorder) = FlightRecorder::builder()
            .runtime(&service)
            .install()
            .map_err(Failure::while_("the flight recorder"))?;
        let path = folder.join(format!("{name}.sqlite"));
        // What an earlier run left; that there is none is the usual case.
        let _ = std::fs::remove_file(&path);
        let database = Database::create(&path).map_err(Failure::while_("the orders' database"))?;
        let database = Arc::new(database);
        let provider = payments::serve(&world).map_err(Failure::while_("the payment provider"))?;
        let checkout = C::new(load::CLIENTS, provider);
        let server = http::serve(&service, port, checkout, Arc::clone(&database)).map_err(
            Failure::while_(&format!("the service on port {port} of loopback")),
        )?;
        let measured = load::drive(&world, server, time).map_err(Failure::while_("an order"))?;

        let written = database
            .count()
            .map_err(Failure::while_("counting the orders"))?;
        if written != measured.orders {
            return Err(Failure::new(format!(
                "{} orders were placed, {written} are in the database",
                measured.orders
            )));
        }
        // The listener goes with its thread, so that the next phase finds the port free.
        for runtime in [&world, &service] {
            let report = runtime.shutdown(Duration::from_millis(100));
            if !report.is_complete() {
                return Err(Failure::new(format!("a runtime did not end: {report:?}")));
            }
        }
        let pins: Vec<Pinned> = recorder
            .snapshot()
            .into_iter()
            .filter_map(|recorded| pin(recorded.event))
            .collect();
        let recording = folder.join(format!("{name}.jfr"));
        recorder
            .dump(&recording)
            .map_err(Failure::while_("the recording"))?;
        let read = count_pins(&recording).map_err(Failure::while_("reading the recording back"))?;
        if read != pins.len() {
            return Err(Failure::new(format!(
                "{} pins were recorded, {read} are in the recording",
                pins.len()
            )));
        }
        Ok(Self {
            measured,
            sites: sites(&pins),
            recording,
        })
    }

    pub(crate) fn pins(&self) -> u64 {
        self.sites.iter().map(|site| site.count).sum()
    }

    pub(crate) fn total(&self) -> Duration {
        self.sites.iter().map(|site| site.total).sum()
    }

    pub(crate) fn stranded(&self) -> Duration {
        self.sites.iter().map(|site| site.stranded).sum()
    }
}

fn pin(event: Event) -> Option<Pinned> {
    match event {
        Event::VirtualThreadPinned(pinned) => Some(pinned),
        _ => None,
    }
}

fn count_pins(recording: &Path) -> Result<usize, vt_flight_recorder::ReadError> {
    let mut reader = Reader::open(recording)?;
    let mut count = 0;
    while let Some(mut chunk) = reader.next_chunk()? {
        while let Some(event) = chunk.next_event()? {
            count += usize::from(Pin::of(&event).is_some_and(|pin| !pin.live));
        }
    }
    Ok(count)
}

fn sites(pins: &[Pinned]) -> Vec<Site> {
    let mut sites: BTreeMap<(String, String), Site> = BTreeMap::new();
    for pin in pins {
        let line = |place: &Option<vt_runtime::event::Place>| {
            place.as_ref().map_or_else(
                || "unknown".to_owned(),
                |place| format!("{}:{}", place.file, place.line),
            )
        };
        let key = (line(&pin.pinned_at), line(&pin.blocked_at));
        let site = sites.entry(key.clone()).or_insert_with(|| Site {
            pinned_at: key.0,
            blocked_at: key.1,
            count: 0,
            total: Duration::ZERO,
            stranded: Duration::ZERO,
        });
        site.count += 1;
        site.total += pin.duration;
        site.stranded += pin.stranded_time;
    }
    let mut sites: Vec<_> = sites.into_values().collect();
    sites.sort_by_key(|site| std::cmp::Reverse(site.total));
    sites
}
