//! The recorder as a `tracing_subscriber` layer: the program's own spans and events become records, so
//! that a pin shows the request it belonged to.
//!
//! The runtime's events do not come this way: the recorder reads them from the rings, which costs a
//! carrier less.

use std::fmt::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record as Values};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;
use vt_runtime::event::{TARGET, Timestamp, clock};

use crate::recorder::Intake;
use crate::store::ProgramRecord;

/// Records the program's spans and events. Composes with other layers and takes per-layer filters;
/// what it keeps is decided by its recorder's settings, and by no means what other layers see.
#[derive(Clone, Debug)]
pub struct RecorderLayer {
    intake: Arc<Intake>,
}

impl RecorderLayer {
    pub(crate) fn new(intake: Arc<Intake>) -> Self {
        Self { intake }
    }
}

/// Longer fields are cut: a record is a hint, not an archive.
const MAX_FIELDS: usize = 1_024;

/// A span while it is open.
struct Open {
    at: Timestamp,
    fields: Fields,
}

/// Fields as `name=value`, and the message apart.
#[derive(Default)]
struct Fields {
    text: String,
    message: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let is_message = field.name() == "message";
        let into = if is_message {
            &mut self.message
        } else {
            &mut self.text
        };
        if into.len() >= MAX_FIELDS {
            return;
        }
        // Writing to a string fails only if a value's own formatting does; what it gave is kept.
        let _ = if is_message {
            write!(into, "{value:?}")
        } else {
            let space = if into.is_empty() { "" } else { " " };
            write!(into, "{space}{}={value:?}", field.name())
        };
        if into.len() > MAX_FIELDS {
            let end = into.floor_char_boundary(MAX_FIELDS);
            into.truncate(end);
            into.push('…');
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

/// The calling virtual thread's id and name; 0 for a plain one.
fn thread() -> (u64, Arc<str>) {
    if !vt_runtime::thread::is_virtual() {
        return (0, Arc::from(""));
    }
    let thread = vt_runtime::thread::current();
    let id = thread.id().as_u64();
    let name = thread
        .name()
        .map_or_else(|| format!("vt-{id}").into(), Arc::from);
    (id, name)
}

impl<S> Layer<S> for RecorderLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if !self.intake.wants(*attributes.metadata().level()) {
            return;
        }
        let Some(span) = context.span(id) else {
            return;
        };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(Open {
            at: clock::now(),
            fields,
        });
    }

    fn on_record(&self, id: &Id, values: &Values<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        if let Some(open) = span.extensions_mut().get_mut::<Open>() {
            values.record(&mut open.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        if metadata.target() == TARGET || !self.intake.wants(*metadata.level()) {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let (thread, thread_name) = thread();
        self.intake.push(ProgramRecord {
            at: clock::now(),
            duration: None,
            thread,
            thread_name,
            span: context
                .event_span(event)
                .map_or(0, |span| span.id().into_u64()),
            parent: 0,
            level: metadata.level().as_str(),
            target: metadata.target().into(),
            text: fields.message.into(),
            fields: fields.text.into(),
        });
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else {
            return;
        };
        let Some(open) = span.extensions_mut().remove::<Open>() else {
            return;
        };
        let metadata = span.metadata();
        let (thread, thread_name) = thread();
        let length = clock::now().0.saturating_sub(open.at.0);
        self.intake.push(ProgramRecord {
            at: open.at,
            duration: Some(Duration::from_nanos(length)),
            thread,
            thread_name,
            span: id.into_u64(),
            parent: span.parent().map_or(0, |parent| parent.id().into_u64()),
            level: metadata.level().as_str(),
            target: metadata.target().into(),
            text: metadata.name().into(),
            fields: open.fields.text.into(),
        });
    }
}
