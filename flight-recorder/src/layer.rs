//! The recorder as a `tracing_subscriber` layer: the program's own spans and events become records, so
//! that a pin shows the request it belonged to.
//!
//! The runtime's events do not come this way: the recorder reads them from the rings, which costs a
//! carrier less.

use std::fmt::{self, Write};
use std::sync::Arc;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record as Values};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;
use vt_runtime::event::{TARGET, clock};

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
        let metadata = attributes.metadata();
        if !self.intake.wants(*metadata.level()) {
            return;
        }
        let parent = context.span(id).and_then(|span| span.parent());
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let (thread, thread_name) = thread();
        self.intake.open(ProgramRecord {
            at: clock::now(),
            duration: None,
            thread,
            thread_name,
            span: id.into_u64(),
            parent: parent.map_or(0, |parent| parent.id().into_u64()),
            level: metadata.level().as_str(),
            target: metadata.target().into(),
            text: metadata.name().into(),
            fields: fields.text.into(),
        });
    }

    fn on_record(&self, id: &Id, values: &Values<'_>, _: Context<'_, S>) {
        // Values format themselves, which is foreign code: outside the intake's lock.
        let mut added = Fields::default();
        values.record(&mut added);
        self.intake.change(id.into_u64(), |span| {
            let space = if span.fields.is_empty() { "" } else { " " };
            let room = MAX_FIELDS.saturating_sub(span.fields.len());
            let end = added.text.floor_char_boundary(room);
            span.fields = format!("{}{space}{}", span.fields, &added.text[..end]).into();
        });
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

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.intake.close(id.into_u64(), clock::now());
    }
}
