//! `parks`: what virtual threads waited for, unmounted: the waits that cost nobody a carrier.

use std::collections::BTreeMap;

use vt_flight_recorder::Event;

use super::View;
use super::tally::{Tally, ranked};
use crate::table::{Cell, Table};

#[derive(Default)]
pub(super) struct Parks(BTreeMap<String, Tally>);

impl View for Parks {
    fn event(&mut self, event: &Event<'_>) {
        if event.name() != "jdk.ThreadPark" {
            return;
        }
        let class = event.get("parkedClass");
        let operation = class.as_ref().and_then(|class| class.member("name").text());
        let operation = operation.unwrap_or("unknown").to_owned();
        self.0
            .entry(operation)
            .or_default()
            .add(event.duration_ns());
    }

    fn table(self: Box<Self>) -> Table {
        let mut table = Table::new(
            "Parks: waits that gave the carrier back",
            &[
                ("Operation", "operation"),
                ("Parks", "count"),
                ("Mean", "mean_ns"),
                ("99 %", "p99_ns"),
                ("Longest", "longest_ns"),
                ("Total", "total_ns"),
            ],
        );
        for (operation, mut tally) in ranked(self.0, |tally| tally.total) {
            let [count, longest, total] = tally.cells();
            let (mean, p99) = (Cell::Span(tally.mean()), Cell::Span(tally.quantile(0.99)));
            table.row(vec![
                Cell::text(operation),
                count,
                mean,
                p99,
                longest,
                total,
            ]);
        }
        table
    }

    fn none(&self) -> &'static str {
        "No park was recorded (the default settings leave them out)."
    }
}
