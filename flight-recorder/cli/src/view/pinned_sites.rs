//! `pinned-sites`: pins by place, the most harmful first: by how long others waited for the carriers
//! they kept, then by how long they kept them.

use std::collections::BTreeMap;

use vt_flight_recorder::{Event, Pin};

use super::View;
use super::groups::Groups;
use super::tally::{Tally, ranked};
use crate::table::{Cell, Table};

/// What makes pins the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Site {
    /// The line that waited.
    pub(crate) blocked_at: String,
    /// The line that pinned.
    pub(crate) pinned_at: String,
    /// Why: the reason and what it names.
    pub(crate) reason: String,
}

impl Site {
    pub(crate) fn of(pin: &Pin) -> Self {
        let named = [&pin.lock, &pin.native]
            .into_iter()
            .find(|name| !name.is_empty());
        let reason = match named {
            Some(name) => format!("{} {name}", pin.reason),
            None => pin.reason.clone(),
        };
        Self {
            blocked_at: pin.site(),
            pinned_at: pin.pinned_at.clone(),
            reason,
        }
    }
}

/// What the pins of one site came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Harm {
    pub(crate) kept: Tally,
    pub(crate) stranded: i64,
    pub(crate) stranded_ns: i64,
    /// The worst pin's harm, and the span it lay in.
    worst: (i64, i64),
    span: String,
}

/// Pins by site.
#[derive(Debug, Default)]
pub(crate) struct PinnedSites(pub(crate) Groups<Site, Harm>, Evers<Site>);

/// What the recorder counted since the runtime started, pins below the threshold included, by what makes them the same.
pub(super) type Evers<K> = BTreeMap<K, Ever>;

/// All pins of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ever {
    pub(super) count: u64,
    pub(super) total: i64,
    pub(super) p99: i64,
    pub(super) stranded: i64,
}

impl Ever {
    /// Takes a sum; a file that was put together of several has several of each.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        self.count += event.integer("count").unwrap_or(0).unsigned_abs();
        let nanos = |name| event.nanos(name).unwrap_or(0);
        self.total = self.total.saturating_add(nanos("total"));
        self.p99 = self.p99.max(nanos("p99"));
        self.stranded = self.stranded.saturating_add(nanos("strandedTime"));
    }
}

impl PinnedSites {
    /// Takes a pin, ended or not.
    pub(crate) fn add(&mut self, pin: &Pin) {
        let harm = self.0.of(&pin.kind, || Site::of(pin));
        harm.kept.add(pin.duration_ns);
        harm.stranded = harm.stranded.max(pin.stranded);
        harm.stranded_ns = harm.stranded_ns.saturating_add(pin.stranded_ns);
        let weight = (pin.stranded_ns, pin.duration_ns);
        if !pin.span_text.is_empty() && weight >= harm.worst {
            harm.worst = weight;
            harm.span.clone_from(&pin.span_text);
        }
    }
}

impl View for PinnedSites {
    fn event(&mut self, event: &Event<'_>) {
        if event.name() == "vt.PinSite" {
            let text = |name| event.text(name).unwrap_or_default();
            let site = Site {
                blocked_at: text("blockedAt"),
                pinned_at: text("pinnedAt"),
                reason: format!("{} {}", text("pinnedReason"), text("lock"))
                    .trim()
                    .to_owned(),
            };
            self.1.entry(site).or_default().add(event);
        } else if let Some(pin) = Pin::of_anybody(event).filter(|pin| !pin.live) {
            self.add(&pin);
        }
    }

    fn table(mut self: Box<Self>) -> Table {
        // Sites of which all pins were too short to be recorded.
        for site in self.1.keys() {
            self.0.entry(site.clone());
        }
        let mut table = Table::new(
            "Pinned sites, worst first: by the waiting of those they stranded",
            &[
                ("Stranded Time", "stranded_ns"),
                ("Most Stranded", "stranded"),
                ("Pins", "count"),
                ("Total", "total_ns"),
                ("99 %", "p99_ns"),
                ("Longest", "longest_ns"),
                ("Pins Ever", "count_ever"),
                ("Total Ever", "total_ever_ns"),
                ("Blocked At", "blocked_at"),
                ("Pinned At", "pinned_at"),
                ("Reason", "reason"),
                ("Worst In", "span"),
            ],
        )
        .sparse(&["Pins Ever", "Total Ever", "Worst In"]);
        let evers = self.1;
        let rows = ranked(self.0.into_map(), |harm| {
            (harm.stranded_ns, harm.kept.total)
        });
        for (site, mut harm) in rows {
            let ever = evers.get(&site);
            let [count, longest, total] = harm.kept.cells();
            table.row(vec![
                Cell::Span(harm.stranded_ns),
                Cell::Count(harm.stranded.unsigned_abs()),
                count,
                total,
                Cell::Span(harm.kept.quantile(0.99)),
                longest,
                ever.map_or(Cell::text(""), |ever| Cell::Count(ever.count)),
                ever.map_or(Cell::text(""), |ever| Cell::Span(ever.total)),
                Cell::text(site.blocked_at),
                Cell::text(site.pinned_at),
                Cell::text(site.reason),
                Cell::text(harm.span),
            ]);
        }
        table
    }

    fn none(&self) -> &'static str {
        "No virtual thread was pinned."
    }
}
