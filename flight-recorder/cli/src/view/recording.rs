//! `recording`: the recording itself: when, how much, of which program, with which settings.

use std::collections::BTreeMap;

use vt_flight_recorder::{Event, Unit, Value};

use super::View;
use crate::table::{Cell, Table};
use crate::text;

#[derive(Default)]
pub(super) struct Recording {
    events: u64,
    first: Option<i64>,
    last: i64,
    facts: BTreeMap<String, String>,
    settings: BTreeMap<String, String>,
}

/// Events of which there is one, told field by field.
const FACTS: [(&str, &str); 5] = [
    ("jdk.JVMInformation", ""),
    ("jdk.OSInformation", ""),
    ("jdk.CPUInformation", "processor "),
    ("jdk.ActiveRecording", "recording "),
    ("jdk.Shutdown", "dump "),
];

impl View for Recording {
    fn event(&mut self, event: &Event<'_>) {
        self.events += 1;
        let start = event.start_ns();
        self.first = Some(self.first.map_or(start, |first| first.min(start)));
        self.last = self.last.max(start.saturating_add(event.duration_ns()));
        if event.name() == "jdk.ActiveSetting" {
            let text = |name| event.text(name).unwrap_or_default();
            let id = event.integer("id").unwrap_or(0).cast_unsigned();
            let of = event
                .type_numbered(id)
                .map_or("unknown", |of| of.name.as_str());
            self.settings
                .insert(format!("{of} {}", text("name")), text("value"));
        }
        let Some((_, prefix)) = FACTS.iter().find(|(name, _)| *name == event.name()) else {
            return;
        };
        for (field, value) in event.fields().skip(1) {
            let shown = match &value {
                Value::Text(text) => text.to_string(),
                Value::Integer(number) => match event.to_nanos(field, *number) {
                    Some(ns) if field.type_name == "long" && field.name.contains("Start") => {
                        text::moment(ns)
                    }
                    Some(ns) => text::span(ns),
                    None if field.unit == Unit::Bytes => text::bytes(number.unsigned_abs()),
                    None => number.to_string(),
                },
                _ => continue,
            };
            let label = if field.label.is_empty() {
                &field.name
            } else {
                &field.label
            };
            let label = label.to_lowercase();
            let label = label.strip_prefix(prefix).unwrap_or(&label);
            self.facts.insert(format!("{prefix}{label}"), shown);
        }
    }

    fn table(self: Box<Self>) -> Table {
        let mut table = Table::new("Recording", &[("Fact", "fact"), ("Value", "value")]);
        let mut row =
            |fact: String, value: String| table.row(vec![Cell::Text(fact), Cell::Text(value)]);
        row("events".to_owned(), self.events.to_string());
        if let Some(first) = self.first {
            row("first event".to_owned(), text::moment(first));
            row("last event".to_owned(), text::moment(self.last));
            row(
                "length of events".to_owned(),
                text::span(self.last.saturating_sub(first)),
            );
        }
        self.facts
            .into_iter()
            .for_each(|(fact, value)| row(fact, value));
        self.settings
            .into_iter()
            .for_each(|(name, value)| row(format!("setting {name}"), value));
        table
    }

    fn none(&self) -> &'static str {
        "The recording is empty."
    }
}
