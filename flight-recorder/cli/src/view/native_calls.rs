//! `native-calls`: foreign calls and system calls that kept a carrier, declared or seen from outside.

use vt_flight_recorder::{Event, Pin};

use super::View;
use super::groups::Groups;
use super::tally::{Tally, ranked};
use crate::table::{Cell, Table};

/// A call is known by its name and by how it was seen.
type Key = (String, String);

#[derive(Default)]
struct Calls {
    took: Tally,
    stranded_ns: i64,
    site: String,
}

#[derive(Default)]
pub(super) struct NativeCalls(Groups<Key, Calls>);

impl View for NativeCalls {
    fn event(&mut self, event: &Event<'_>) {
        if event.name() == "vt.NativeCall" {
            let text = |name| event.text(name).unwrap_or_default();
            let calls = self.0.entry((text("native"), text("state")));
            calls.took.add(event.duration_ns());
            return;
        }
        let pin = Pin::of_anybody(event);
        let Some(pin) = pin.filter(|pin| !pin.live && !pin.native.is_empty()) else {
            return;
        };
        let key = || (pin.native.clone(), format!("pinned, {}", pin.source));
        let calls = self.0.of(&pin.kind, key);
        calls.took.add(pin.duration_ns);
        calls.stranded_ns = calls.stranded_ns.saturating_add(pin.stranded_ns);
        calls.site = pin.site();
    }

    fn table(self: Box<Self>) -> Table {
        let mut table = Table::new(
            "Native calls",
            &[
                ("Native", "native"),
                ("Seen", "seen"),
                ("Calls", "count"),
                ("Longest", "longest_ns"),
                ("Total", "total_ns"),
                ("Stranded Time", "stranded_ns"),
                ("Last Seen At", "site"),
            ],
        );
        for ((native, seen), calls) in ranked(self.0.into_map(), |calls| {
            (calls.stranded_ns, calls.took.total)
        }) {
            let [count, longest, total] = calls.took.cells();
            table.row(vec![
                Cell::text(native),
                Cell::text(seen),
                count,
                longest,
                total,
                Cell::Span(calls.stranded_ns),
                Cell::text(calls.site),
            ]);
        }
        table
    }

    fn none(&self) -> &'static str {
        "No native call took longer than its threshold."
    }
}
