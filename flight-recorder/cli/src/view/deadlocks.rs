//! `deadlocks`: cycles of threads, locks and carriers, each told in one line.

use vt_flight_recorder::Event;

use super::View;
use crate::table::{Cell, Table};

#[derive(Default)]
pub(super) struct Deadlocks(Vec<(i64, [String; 5])>);

impl View for Deadlocks {
    fn event(&mut self, event: &Event<'_>) {
        if event.name() == "vt.PinnedDeadlock" {
            let fields = ["kind", "lock", "owner", "carriers", "cycle"];
            let texts = fields.map(|name| event.text(name).unwrap_or_default());
            self.0.push((event.start_ns(), texts));
        }
    }

    fn table(mut self: Box<Self>) -> Table {
        let mut table = Table::new(
            "Deadlocks in which carriers take part",
            &[
                ("When", "start_ns"),
                ("Kind", "kind"),
                ("Lock", "lock"),
                ("Owner", "owner"),
                ("Carriers", "carriers"),
                ("Cycle", "cycle"),
            ],
        );
        self.0.sort();
        for (at, texts) in self.0 {
            let mut cells = vec![Cell::Moment(at)];
            cells.extend(texts.map(Cell::Text));
            table.row(cells);
        }
        table
    }

    fn none(&self) -> &'static str {
        "No deadlock was found."
    }
}
