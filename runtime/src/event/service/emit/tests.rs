//! The table in the schema's docs is what is emitted: names, levels, fields and their order.

use std::sync::Arc;

use parking_lot::Mutex;
use tracing::dispatcher::with_default;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Metadata, Subscriber};

use super::emit;
use crate::event::capture::one_of_each;
use crate::event::{Event, TARGET};

/// Collects the metadata of events.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<&'static Metadata<'static>>>>);

impl Subscriber for Seen {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, event: &tracing::Event<'_>) {
        self.0.lock().push(event.metadata());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The table's row for an event: level, fields, name in a recording.
fn documented(name: &str) -> Vec<String> {
    let start = format!("//! | `{name}` |");
    let row = include_str!("../../../event.rs")
        .lines()
        .find_map(|line| line.strip_prefix(&start));
    let row = row.unwrap_or_else(|| panic!("{name} has a row"));
    row.split('|')
        .map(|cell| cell.trim().trim_matches('`').to_owned())
        .collect()
}

fn row(event: &Event, metadata: &Metadata<'_>) -> Vec<String> {
    let fields: Vec<_> = metadata.fields().iter().map(|field| field.name()).collect();
    let (message, fields) = fields.split_first().expect("a message comes first");
    assert_eq!(*message, "message");
    let recorded = event.jfr_name().unwrap_or_default();
    vec![
        metadata.level().to_string(),
        fields.join(" "),
        recorded.to_owned(),
        String::new(),
    ]
}

#[test]
fn the_documented_table_is_what_is_emitted() {
    let (events, seen) = (one_of_each(), Seen::default());
    with_default(&Dispatch::new(seen.clone()), || {
        events.iter().for_each(emit)
    });
    let seen = seen.0.lock();
    assert_eq!(seen.len(), events.len());
    for (event, metadata) in events.iter().zip(&*seen) {
        assert_eq!(metadata.name(), event.name());
        assert_eq!(metadata.target(), TARGET);
        assert_eq!(
            row(event, metadata),
            documented(event.name()),
            "{}",
            event.name()
        );
    }
}
