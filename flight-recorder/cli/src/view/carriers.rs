//! `carriers`: for how much of the recording pins kept each carrier, and what else happened to it.

use vt_flight_recorder::{Event, Pin};

use super::View;
use super::groups::Groups;
use super::tally::Tally;
use crate::table::{Cell, Table};

#[derive(Default)]
struct Carrier {
    kept: Tally,
    stranded_ns: i64,
    native: Tally,
    stalls: u64,
    started: u64,
}

#[derive(Default)]
pub(super) struct Carriers {
    carriers: Groups<String, Carrier>,
    first: Option<i64>,
    last: i64,
}

impl View for Carriers {
    fn event(&mut self, event: &Event<'_>) {
        let start = event.start_ns();
        self.first = Some(self.first.map_or(start, |first| first.min(start)));
        self.last = self.last.max(start.saturating_add(event.duration_ns()));
        if let Some(pin) = Pin::of_anybody(event) {
            let carrier = self.carriers.of(&pin.kind, || pin.carrier.name.clone());
            if !pin.live {
                carrier.kept.add(pin.duration_ns);
                carrier.stranded_ns = carrier.stranded_ns.saturating_add(pin.stranded_ns);
            }
            return;
        }
        let Some(thread) = event.thread("carrierThread") else {
            return;
        };
        let carrier = self.carriers.entry(thread.name);
        match event.name() {
            "vt.NativeCall" => carrier.native.add(event.duration_ns()),
            "vt.CarrierStalled" => carrier.stalls += 1,
            "jdk.VirtualThreadStart" => carrier.started += 1,
            _ => {}
        }
    }

    fn table(self: Box<Self>) -> Table {
        let mut table = Table::new(
            "Carriers",
            &[
                ("Carrier", "carrier"),
                ("Pins", "count"),
                ("Longest", "longest_ns"),
                ("Total Pinned", "total_ns"),
                ("Of The Recording", "share"),
                ("Stranded Time", "stranded_ns"),
                ("Native Calls", "native"),
                ("Stalls", "stalls"),
                ("Threads Started", "started"),
            ],
        );
        let length = self.last.saturating_sub(self.first.unwrap_or(0)).max(1);
        for (name, carrier) in self.carriers.into_map() {
            let [count, longest, total] = carrier.kept.cells();
            table.row(vec![
                Cell::text(name),
                count,
                longest,
                total,
                Cell::Share(carrier.kept.total as f64 * 100.0 / length as f64),
                Cell::Span(carrier.stranded_ns),
                Cell::Count(carrier.native.count()),
                Cell::Count(carrier.stalls),
                Cell::Count(carrier.started),
            ]);
        }
        table
    }

    fn none(&self) -> &'static str {
        "No event names a carrier."
    }
}
