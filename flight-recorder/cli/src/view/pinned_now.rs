//! `pinned-now`: pins that had not ended when the recording did, with what they wait for.

use std::collections::BTreeMap;

use vt_flight_recorder::{Event, Pin};

use super::View;
use crate::table::{Cell, Table};

#[derive(Default)]
pub(crate) struct PinnedNow {
    /// The latest word on each virtual thread that is pinned.
    live: BTreeMap<i64, Pin>,
    /// When the latest pin of each of them ended.
    ended: BTreeMap<i64, i64>,
}

impl PinnedNow {
    /// Takes what tells that a pin has lasted.
    pub(crate) fn live(&mut self, pin: Pin) {
        let end = |pin: &Pin| pin.start_ns.saturating_add(pin.duration_ns);
        let known = self.live.get(&pin.thread.id);
        if known.is_none_or(|known| end(known) <= end(&pin)) {
            self.live.insert(pin.thread.id, pin);
        }
    }

    /// Is there anything whose end must be looked for?
    pub(crate) fn is_open(&self) -> bool {
        !self.live.is_empty()
    }

    /// Takes what tells that a pin has ended, once every live one is known.
    pub(crate) fn settle(&mut self, event: &Event<'_>) {
        let ends = match event.name() {
            "jdk.VirtualThreadEnd" => event.start_ns(),
            "jdk.VirtualThreadPinned" => event.start_ns().saturating_add(event.duration_ns()),
            _ => return,
        };
        let thread = event.thread("eventThread").map_or(0, |thread| thread.id);
        if self.live.contains_key(&thread) {
            let known = self.ended.entry(thread).or_insert(ends);
            *known = (*known).max(ends);
        }
    }

    /// The pins that had not ended, longest first.
    pub(crate) fn pins(self) -> Vec<Pin> {
        let ended = self.ended;
        let mut pins: Vec<_> = self.live.into_values().collect();
        pins.retain(|pin| {
            ended
                .get(&pin.thread.id)
                .is_none_or(|end| *end <= pin.start_ns)
        });
        pins.sort_by_key(|pin| std::cmp::Reverse(pin.duration_ns));
        pins
    }
}

impl View for PinnedNow {
    fn event(&mut self, event: &Event<'_>) {
        if event.name() == "vt.VirtualThreadPinnedLive"
            && let Some(pin) = Pin::of(event)
        {
            self.live(pin);
        }
    }

    fn looks_again(&self) -> bool {
        self.is_open()
    }

    fn again(&mut self, event: &Event<'_>) {
        self.settle(event);
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
                ("Span", "span"),
            ],
        )
        .sparse(&["Span"]);
        for pin in self.pins() {
            let site = super::pinned_sites::Site::of(&pin);
            table.row(vec![
                Cell::text(format!("#{} {}", pin.thread.id, pin.thread.name)),
                Cell::text(&pin.carrier.name),
                Cell::Span(pin.duration_ns),
                Cell::Count(pin.stranded.unsigned_abs()),
                Cell::text(site.reason),
                Cell::text(&pin.operation),
                Cell::text(pin.waits_for),
                Cell::text(pin.waits_owner),
                Cell::text(site.blocked_at),
                Cell::text(site.pinned_at),
                Cell::text(pin.span_text),
            ]);
        }
        table
    }

    fn none(&self) -> &'static str {
        "No virtual thread was pinned when the recording ended."
    }
}
