//! `pinned-threads`: pins by the application's method, as the JDK's view of that name.

use vt_flight_recorder::{Event, Pin};

use super::View;
use super::groups::Groups;
use super::tally::{Tally, ranked};
use crate::table::{Cell, Table};

#[derive(Default)]
pub(super) struct PinnedThreads(Groups<String, Tally>);

impl View for PinnedThreads {
    fn event(&mut self, event: &Event<'_>) {
        if let Some(pin) = Pin::of_anybody(event).filter(|pin| !pin.live) {
            let method = || {
                let frame = pin.application_frame();
                frame.map_or_else(|| pin.site(), ToString::to_string)
            };
            self.0.of(&pin.kind, method).add(pin.duration_ns);
        }
    }

    fn table(self: Box<Self>) -> Table {
        let mut table = Table::new(
            "Pinned Virtual Threads",
            &[
                ("Method", "method"),
                ("Pinned Count", "count"),
                ("Longest Pinning", "longest"),
                ("Total Time Pinned", "total"),
            ],
        );
        for (method, tally) in ranked(self.0.into_map(), |tally| tally.total) {
            let [count, longest, total] = tally.cells();
            table.row(vec![Cell::text(method), count, longest, total]);
        }
        table
    }

    fn none(&self) -> &'static str {
        "No virtual thread was pinned."
    }
}
