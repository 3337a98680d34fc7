//! `contention`: locks that were waited for, pinned or not.

use std::collections::BTreeMap;

use vt_flight_recorder::{Event, Pin};

use super::View;
use super::tally::{Tally, ranked};
use crate::table::{Cell, Table};

#[derive(Default)]
struct Waits {
    waited: Tally,
    pinned: u64,
    owner: String,
    site: String,
}

#[derive(Default)]
pub(super) struct Contention(BTreeMap<String, Waits>);

/// Waits for a lock that unmounted: the operation is all that is known of the lock.
const LOCKS: [&str; 3] = ["lock", "monitor_enter", "semaphore"];

impl View for Contention {
    fn event(&mut self, event: &Event<'_>) {
        let class = |field| {
            let class = event.get(field)?;
            Some(class.member("name").text()?.to_owned())
        };
        match event.name() {
            "jdk.JavaMonitorEnter" => {
                let name = class("monitorClass").unwrap_or_else(|| "unnamed".to_owned());
                let waits = self.0.entry(format!("monitor {name}")).or_default();
                waits.waited.add(event.duration_ns());
                if let Some(owner) = event.thread("previousOwner") {
                    waits.owner = format!("#{} {}", owner.id, owner.name);
                }
                if let Some(frame) = event.stack().iter().find(|frame| frame.application) {
                    waits.site = frame.to_string();
                }
            }
            "jdk.ThreadPark" => {
                let Some(operation) = class("parkedClass") else {
                    return;
                };
                if LOCKS.contains(&operation.as_str()) {
                    let name = format!("any {operation}, unmounted");
                    self.0
                        .entry(name)
                        .or_default()
                        .waited
                        .add(event.duration_ns());
                }
            }
            _ => {
                let Some(pin) = Pin::of_anybody(event).filter(|pin| !pin.live) else {
                    return;
                };
                // A monitor's wait has an event of its own.
                if pin.waits_for.is_empty() || !LOCKS.contains(&pin.operation.as_str()) {
                    return;
                }
                let monitor = pin.operation == "monitor_enter";
                let kind = if monitor {
                    "monitor"
                } else {
                    pin.operation.as_str()
                };
                let waits = self
                    .0
                    .entry(format!("{kind} {}", pin.waits_for))
                    .or_default();
                waits.pinned += 1;
                if !monitor {
                    waits.waited.add(pin.duration_ns);
                }
                waits.site = pin.site();
                if !pin.waits_owner.is_empty() {
                    waits.owner = pin.waits_owner;
                }
            }
        }
    }

    fn table(self: Box<Self>) -> Table {
        let mut table = Table::new(
            "Contention",
            &[
                ("Lock", "lock"),
                ("Waits", "count"),
                ("Longest", "longest_ns"),
                ("Total", "total_ns"),
                ("Pinned", "pinned"),
                ("Last Owner", "owner"),
                ("Last Waited At", "site"),
            ],
        );
        for (lock, waits) in ranked(self.0, |waits| waits.waited.total) {
            let [count, longest, total] = waits.waited.cells();
            table.row(vec![
                Cell::text(lock),
                count,
                longest,
                total,
                Cell::Count(waits.pinned),
                Cell::text(waits.owner),
                Cell::text(waits.site),
            ]);
        }
        table
    }

    fn none(&self) -> &'static str {
        "No wait for a lock was recorded (the default settings leave out those that unmounted)."
    }
}
