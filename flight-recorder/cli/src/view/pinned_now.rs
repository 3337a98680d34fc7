//! `pinned-now`: pins that had not ended when the recording did, with what they wait for.

use std::collections::BTreeMap;

use vt_flight_recorder::{Event, Pin};

use super::View;
use crate::table::{Cell, Table};

#[derive(Default)]
pub(crate) struct PinnedNow {
    /// The latest word on each virtual thread that is pinned.
    live: BTreeMap<i64, Pin>,
    /// When each thread's latest pin ended.
    ended: BTreeMap<i64, i64>,
}

impl View for PinnedNow {
    fn event(&mut self, event: &Event<'_>) {
        if event.name() == "jdk.VirtualThreadEnd" {
            let end = event.start_ns();
            if let Some(thread) = event.thread("eventThread") {
                self.end(thread.id, end);
            }
            return;
        }
        let Some(pin) = Pin::of(event) else {
            return;
        };
        let end = pin.start_ns.saturating_add(pin.duration_ns);
        if !pin.live {
            self.end(pin.thread.id, end);
            return;
        }
        let known = self.live.get(&pin.thread.id);
        if known.is_none_or(|known| known.start_ns.saturating_add(known.duration_ns) <= end) {
            self.live.insert(pin.thread.id, pin);
        }
    }

    fn table(self: Box<Self>) -> Table {
        let mut table = Table::new(
            "Pinned when the recording ended",
            &[
                ("Virtual Thread", "thread"),
                ("Carrier", "carrier"),
                ("For", "elapsed_ns"),
                ("Stranded", "stranded"),
                ("Reason", "reason"),
                ("Operation", "operation"),
                ("Waits For", "waits_for"),
                ("Owner", "waits_owner"),
                ("Blocked At", "blocked_at"),
                ("Pinned At", "pinned_at"),
            ],
        );
        let ended = self.ended;
        let mut pins: Vec<_> = self.live.into_values().collect();
        // Events may stand in any order, so an end decides only now.
        pins.retain(|pin| {
            ended
                .get(&pin.thread.id)
                .is_none_or(|end| *end <= pin.start_ns)
        });
        pins.sort_by_key(|pin| std::cmp::Reverse(pin.duration_ns));
        for pin in pins {
            let site = super::pinned_sites::Site::of(&pin);
            table.row(vec![
                Cell::text(format!("#{} {}", pin.thread.id, pin.thread.name)),
                Cell::text(pin.carrier.name),
                Cell::Span(pin.duration_ns),
                Cell::Count(pin.stranded.unsigned_abs()),
                Cell::text(site.reason),
                Cell::text(pin.operation),
                Cell::text(pin.waits_for),
                Cell::text(pin.waits_owner),
                Cell::text(site.blocked_at),
                Cell::text(site.pinned_at),
            ]);
        }
        table
    }

    fn none(&self) -> &'static str {
        "No virtual thread was pinned when the recording ended."
    }
}

impl PinnedNow {
    /// The pins that had not ended, longest first.
    pub(crate) fn pins(self) -> Vec<Pin> {
        let ended = self.ended;
        let mut pins: Vec<_> = self.live.into_values().collect();
        // Events may stand in any order, so an end decides only now.
        pins.retain(|pin| {
            ended
                .get(&pin.thread.id)
                .is_none_or(|end| *end <= pin.start_ns)
        });
        pins.sort_by_key(|pin| std::cmp::Reverse(pin.duration_ns));
        pins
    }

    fn end(&mut self, thread: i64, at: i64) {
        let known = self.ended.entry(thread).or_insert(at);
        *known = (*known).max(at);
    }
}
