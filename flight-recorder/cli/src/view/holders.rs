//! `holders`: what pins (a monitor, a critical region, a foreign call), where it is taken, whom that
//! strands and who waited for it.

use std::collections::BTreeMap;

use vt_flight_recorder::{Event, Pin};

use super::View;
use super::tally::{Tally, ranked};
use crate::table::{Cell, Table};

/// A holder is known by what it is called and where it is taken.
type Key = (String, String, String);

#[derive(Default)]
struct Held {
    kept: Tally,
    stranded_ns: i64,
    waited: Tally,
}

#[derive(Default)]
pub(super) struct Holders {
    held: BTreeMap<Key, Held>,
    /// Waits for each monitor by name.
    waits: BTreeMap<String, Tally>,
}

impl View for Holders {
    fn event(&mut self, event: &Event<'_>) {
        if event.name() == "jdk.JavaMonitorEnter" {
            let monitor = event.get("monitorClass");
            let name = monitor
                .as_ref()
                .and_then(|class| class.member("name").text());
            if let Some(name) = name {
                self.waits
                    .entry(name.to_owned())
                    .or_default()
                    .add(event.duration_ns());
            }
            return;
        }
        let Some(pin) = Pin::of(event).filter(|pin| !pin.live) else {
            return;
        };
        let name = if pin.lock.is_empty() {
            &pin.native
        } else {
            &pin.lock
        };
        let key = (name.clone(), pin.reason.clone(), pin.pinned_at.clone());
        let held = self.held.entry(key).or_default();
        held.kept.add(pin.duration_ns);
        held.stranded_ns = held.stranded_ns.saturating_add(pin.stranded_ns);
    }

    fn table(mut self: Box<Self>) -> Table {
        let mut table = Table::new(
            "Holders: what pins, and whom it hurts",
            &[
                ("Holder", "holder"),
                ("Reason", "reason"),
                ("Pins", "count"),
                ("Longest", "longest_ns"),
                ("Total", "total_ns"),
                ("Stranded Time", "stranded_ns"),
                ("Waits For It", "waits"),
                ("Waited", "waited_ns"),
                ("Pinned At", "pinned_at"),
            ],
        );
        for (key, held) in &mut self.held {
            held.waited = self.waits.get(&key.0).cloned().unwrap_or_default();
        }
        for ((name, reason, pinned_at), held) in
            ranked(self.held, |held| (held.stranded_ns, held.kept.total))
        {
            let [count, longest, total] = held.kept.cells();
            table.row(vec![
                Cell::text(name),
                Cell::text(reason),
                count,
                longest,
                total,
                Cell::Span(held.stranded_ns),
                Cell::Count(held.waited.count()),
                Cell::Span(held.waited.total),
                Cell::text(pinned_at),
            ]);
        }
        table
    }

    fn none(&self) -> &'static str {
        "Nothing pinned a virtual thread."
    }
}
