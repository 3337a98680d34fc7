//! `losses`: records that never reached the file, by class and by where they were lost.

use std::collections::BTreeMap;

use vt_flight_recorder::Event;

use super::View;
use super::tally::ranked;
use crate::table::{Cell, Table};

#[derive(Default)]
pub(super) struct Losses(BTreeMap<(String, String), u64>);

impl View for Losses {
    fn event(&mut self, event: &Event<'_>) {
        if event.name() == "vt.EventsDropped" {
            let text = |name| event.text(name).unwrap_or_default();
            let count = event.integer("count").unwrap_or(0).unsigned_abs();
            *self.0.entry((text("class"), text("place"))).or_default() += count;
        }
    }

    fn table(self: Box<Self>) -> Table {
        let mut table = Table::new(
            "Lost records",
            &[("Class", "class"), ("Lost In", "place"), ("Count", "count")],
        );
        for ((class, place), count) in ranked(self.0, |count| *count) {
            table.row(vec![
                Cell::text(class),
                Cell::text(place),
                Cell::Count(count),
            ]);
        }
        table
    }

    fn none(&self) -> &'static str {
        "Nothing was lost."
    }
}
