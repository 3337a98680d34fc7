//! `lifetimes`: virtual threads started and ended, and how long they lived, by the first part of
//! their names.

use std::collections::{BTreeMap, HashMap};

use vt_flight_recorder::Event;

use super::View;
use super::tally::{Tally, ranked};
use crate::table::{Cell, Table};

#[derive(Default)]
struct Family {
    started: u64,
    ended: u64,
    lived: Tally,
}

#[derive(Default)]
pub(super) struct Lifetimes {
    families: BTreeMap<String, Family>,
    /// Starts that have no end yet, and ends that stand before their start.
    starts: HashMap<i64, i64>,
    ends: HashMap<i64, i64>,
}

/// `worker` of `worker-17`: threads of one kind are told apart by a number.
fn family(name: &str) -> String {
    let kind = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let kind = kind.trim_end_matches(['-', '_', '#', '/', ' ']);
    if kind.is_empty() {
        "unnamed".to_owned()
    } else {
        kind.to_owned()
    }
}

impl View for Lifetimes {
    fn event(&mut self, event: &Event<'_>) {
        let start = match event.name() {
            "jdk.VirtualThreadStart" => true,
            "jdk.VirtualThreadEnd" => false,
            _ => return,
        };
        let Some(thread) = event.thread("eventThread") else {
            return;
        };
        let family = self.families.entry(family(&thread.name)).or_default();
        let (at, id) = (event.start_ns(), thread.id);
        let lived = if start {
            family.started += 1;
            let end = self.ends.remove(&id);
            if end.is_none() {
                self.starts.insert(id, at);
            }
            end.map(|end| end.saturating_sub(at))
        } else {
            family.ended += 1;
            let start = self.starts.remove(&id);
            if start.is_none() {
                self.ends.insert(id, at);
            }
            start.map(|start| at.saturating_sub(start))
        };
        if let Some(lived) = lived {
            family.lived.add(lived);
        }
    }

    fn table(self: Box<Self>) -> Table {
        let mut table = Table::new(
            "Lifetimes of virtual threads",
            &[
                ("Name", "name"),
                ("Started", "started"),
                ("Ended", "ended"),
                ("Alive At The End", "alive"),
                ("Median Life", "median_ns"),
                ("99 %", "p99_ns"),
                ("Longest", "longest_ns"),
            ],
        );
        for (name, mut family) in ranked(self.families, |family| family.started) {
            table.row(vec![
                Cell::text(name),
                Cell::Count(family.started),
                Cell::Count(family.ended),
                Cell::Count(family.started.saturating_sub(family.ended)),
                Cell::Span(family.lived.quantile(0.5)),
                Cell::Span(family.lived.quantile(0.99)),
                Cell::Span(family.lived.max()),
            ]);
        }
        table
    }

    fn none(&self) -> &'static str {
        "No start or end was recorded (the default settings leave them out)."
    }
}

#[cfg(test)]
mod tests {
    use super::family;

    #[test]
    fn threads_of_one_kind_share_a_family() {
        assert_eq!(family("worker-17"), "worker");
        assert_eq!(family("vt-3"), "vt");
        assert_eq!(family("7"), "unnamed");
        assert_eq!(family("main"), "main");
    }
}
