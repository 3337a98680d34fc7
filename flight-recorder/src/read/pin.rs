//! A pin as read back: the fields of `jdk.VirtualThreadPinned` (a JVM's or ours) and of
//! `vt.VirtualThreadPinnedLive` in one type.

use std::sync::Arc;

use super::event::{Event, Frame, Thread};
use super::value::Value;

/// A wait during which a virtual thread kept its carrier. Texts are empty, and numbers 0, where the
/// file does not say: a JVM's knows only the first half of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pin {
    /// It had not ended when it was recorded.
    pub live: bool,
    /// When it began, in nanoseconds since the Unix epoch.
    pub start_ns: i64,
    /// How long it took, in nanoseconds; so far, if it is live.
    pub duration_ns: i64,
    /// Who waited.
    pub thread: Thread,
    /// The carrier that was kept.
    pub carrier: Thread,
    /// What it waited for.
    pub operation: String,
    /// Why it could not unmount.
    pub reason: String,
    /// The stack, innermost first.
    pub frames: Arc<[Frame]>,
    /// Where the outermost pin was taken.
    pub pinned_at: String,
    /// The application's line that waited; `unknown` where it could not be told.
    pub blocked_at: String,
    /// The monitor that pins, or the label of the critical region.
    pub lock: String,
    /// The lock, thread or other thing waited for.
    pub waits_for: String,
    /// Who has it, as `#7 name`.
    pub waits_owner: String,
    /// The foreign call or system call.
    pub native: String,
    /// How many pins were held.
    pub depth: i64,
    /// Virtual threads of the carrier that were ready to run meanwhile.
    pub stranded: i64,
    /// Their waiting, summed, in nanoseconds: a lower bound.
    pub stranded_ns: i64,
    /// How the wait ended.
    pub outcome: String,
    /// How the runtime learned of it.
    pub source: String,
    /// The span the thread was in: its number.
    pub span: i64,
    /// What that span is, behind those it lies in: `request{path=/orders}:query`.
    pub span_text: String,
}

impl Pin {
    /// The pin that an event tells of; `None` for other events.
    #[must_use]
    pub fn of(event: &Event<'_>) -> Option<Self> {
        let live = match event.name() {
            "jdk.VirtualThreadPinned" => false,
            "vt.VirtualThreadPinnedLive" => true,
            _ => return None,
        };
        let mut pin = Self {
            live,
            ..Self::default()
        };
        // Once over the fields: recordings hold millions of pins.
        event.walk(|field, at| {
            let text = |at| {
                event
                    .text_at(field, at)
                    .map_or_else(String::new, |text| text.into_owned())
            };
            let number = |at| event.value_at(field, at).as_ref().and_then(Value::integer);
            let nanos = |at| number(at).and_then(|number| event.to_nanos(field, number));
            match field.name.as_str() {
                "startTime" => pin.start_ns = nanos(at).unwrap_or(0),
                "duration" | "elapsed" => pin.duration_ns = nanos(at).unwrap_or(0),
                "eventThread" => pin.thread = event.thread_at(field, at).unwrap_or_default(),
                "carrierThread" => pin.carrier = event.thread_at(field, at).unwrap_or_default(),
                "stackTrace" => pin.frames = event.stack_at(field, at),
                "blockingOperation" => pin.operation = text(at),
                "pinnedReason" => pin.reason = text(at),
                "pinnedAt" => pin.pinned_at = text(at),
                "blockedAt" => pin.blocked_at = text(at),
                "lock" => pin.lock = text(at),
                "waitsFor" => pin.waits_for = text(at),
                "waitsOwner" => pin.waits_owner = text(at),
                "native" => pin.native = text(at),
                "depth" => pin.depth = number(at).unwrap_or(0),
                "stranded" => pin.stranded = number(at).unwrap_or(0),
                "strandedTime" => pin.stranded_ns = nanos(at).unwrap_or(0),
                "outcome" => pin.outcome = text(at),
                "source" => pin.source = text(at),
                "spanId" => pin.span = number(at).unwrap_or(0),
                "span" => pin.span_text = text(at),
                _ => {}
            }
        });
        if live {
            pin.start_ns = pin.start_ns.saturating_sub(pin.duration_ns);
        }
        Some(pin)
    }

    /// The innermost frame of the application; the innermost of all where it has none.
    #[must_use]
    pub fn application_frame(&self) -> Option<&Frame> {
        self.frames
            .iter()
            .find(|frame| frame.application)
            .or(self.frames.first())
    }

    /// The line to look at: `path:line:column` of the wait, else the application's frame and line.
    #[must_use]
    pub fn site(&self) -> String {
        if !self.blocked_at.is_empty() && self.blocked_at != "unknown" {
            return self.blocked_at.clone();
        }
        match self.application_frame() {
            Some(frame) if frame.line > 0 => format!("{frame}:{}", frame.line),
            Some(frame) => frame.to_string(),
            None => "unknown".to_owned(),
        }
    }
}
