//! `holders`: what pins (a monitor, a critical region, a foreign call), where it is taken, whom that
//! strands and who waited for it.

use std::collections::BTreeMap;

use vt_flight_recorder::{Event, Pin};

use super::View;
use super::groups::Groups;
use super::pinned_sites::Evers;
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
    held: Groups<Key, Held>,
    /// Waits for each monitor by name.
    waits: BTreeMap<String, Tally>,
    /// By name and reason.
    evers: Evers<(String, String)>,
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
        if event.name() == "vt.PinHolder" {
            let text = |name| event.text(name).unwrap_or_default();
            let key = (text("lock"), text("pinnedReason"));
            self.evers.entry(key).or_default().add(event);
            return;
        }
        let Some(pin) = Pin::of_anybody(event).filter(|pin| !pin.live) else {
            return;
        };
        let held = self.held.of(&pin.kind, || {
            let name = if pin.lock.is_empty() {
                &pin.native
            } else {
                &pin.lock
            };
            (name.clone(), pin.reason.clone(), pin.pinned_at.clone())
        });
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
                ("Pins Ever", "count_ever"),
                ("99 % Ever", "p99_ever_ns"),
                ("Waits For It", "waits"),
                ("Waited", "waited_ns"),
                ("Pinned At", "pinned_at"),
            ],
        )
        .sparse(&["Pins Ever", "99 % Ever"]);
        // Those of which all pins were too short to be recorded.
        for (name, reason) in self.evers.keys() {
            let is_there = self.held.keys().any(|(n, r, _)| n == name && r == reason);
            if !is_there {
                let key = (name.clone(), reason.clone(), String::new());
                self.held.entry(key);
            }
        }
        let mut all = self.held.into_map();
        for (key, held) in &mut all {
            held.waited = self.waits.get(&key.0).cloned().unwrap_or_default();
        }
        for ((name, reason, pinned_at), held) in
            ranked(all, |held| (held.stranded_ns, held.kept.total))
        {
            let [count, longest, total] = held.kept.cells();
            let ever = self.evers.get(&(name.clone(), reason.clone()));
            table.row(vec![
                Cell::text(name),
                Cell::text(reason),
                count,
                longest,
                total,
                Cell::Span(held.stranded_ns),
                ever.map_or(Cell::text(""), |ever| Cell::Count(ever.count)),
                ever.map_or(Cell::text(""), |ever| Cell::Span(ever.p99)),
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
