//! A pin as read back: the fields of `jdk.VirtualThreadPinned` (a JVM's or ours) and of
//! `vt.VirtualThreadPinnedLive` in one type.

use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::sync::Arc;

use super::event::{Event, Frame};
use super::pools::MAX_KEPT;
use super::thread::Thread;
use super::types::Field;

/// A wait during which a virtual thread kept its carrier. Texts are empty, and numbers 0, where the
/// file does not say: a JVM's knows only the first half of the fields. What many pins have in common can be read as if it
/// were a field too: `pin.reason`.
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
    /// The lock, thread or other thing waited for.
    pub waits_for: String,
    /// Who has it, as `#7 name`.
    pub waits_owner: String,
    /// How many pins were held.
    pub depth: i64,
    /// Virtual threads of the carrier that were ready to run meanwhile.
    pub stranded: i64,
    /// Their waiting, summed, in nanoseconds: a lower bound.
    pub stranded_ns: i64,
    /// The span the thread was in: its number.
    pub span: i64,
    /// What that span is, behind those it lies in: `request{path=/orders}:query`.
    pub span_text: String,
    /// What it has in common with others.
    pub kind: Arc<PinKind>,
}

/// What many pins have in common. A reader makes it once for each chunk, so that pins of the same `Arc` can be summed
/// without a look at their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PinKind {
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
    /// The foreign call or system call.
    pub native: String,
    /// How the wait ended.
    pub outcome: String,
    /// How the runtime learned of it.
    pub source: String,
}

impl Deref for Pin {
    type Target = PinKind;

    fn deref(&self) -> &PinKind {
        &self.kind
    }
}

/// Where the parts of a pin stand among the fields of its type: found out by their names once, not at each of millions.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    live: bool,
    /// What many pins share, as runs of neighbours.
    shared: Vec<Range<usize>>,
    start: Option<usize>,
    length: Option<usize>,
    waits_for: Option<usize>,
    waits_owner: Option<usize>,
    depth: Option<usize>,
    stranded: Option<usize>,
    stranded_time: Option<usize>,
    span: Option<usize>,
    span_text: Option<usize>,
}

impl Layout {
    /// The layout of a type; `None` for one that tells of no pins.
    pub(super) fn of(name: &str, fields: &[Field]) -> Option<Self> {
        let live = match name {
            "jdk.VirtualThreadPinned" => false,
            "vt.VirtualThreadPinnedLive" => true,
            _ => return None,
        };
        let mut layout = Self {
            live,
            ..Self::default()
        };
        for (at, field) in fields.iter().enumerate() {
            let part = match field.name.as_str() {
                "startTime" => &mut layout.start,
                "duration" | "elapsed" => &mut layout.length,
                "waitsFor" => &mut layout.waits_for,
                "waitsOwner" => &mut layout.waits_owner,
                "depth" => &mut layout.depth,
                "stranded" => &mut layout.stranded,
                "strandedTime" => &mut layout.stranded_time,
                "spanId" => &mut layout.span,
                "span" => &mut layout.span_text,
                "eventThread" => continue,
                _ => {
                    match layout.shared.last_mut() {
                        Some(run) if run.end == at => run.end = at + 1,
                        _ => layout.shared.push(at..at + 1),
                    }
                    continue;
                }
            };
            *part = Some(at);
        }
        Some(layout)
    }
}

/// What a kind is made of: its type, and the bytes of its fields as stored, which say where each ends.
pub(super) type KindKey = [u8; 48];

impl Pin {
    /// The pin that an event tells of; `None` for other events.
    #[must_use]
    pub fn of(event: &Event<'_>) -> Option<Self> {
        let mut pin = Self::of_anybody(event)?;
        pin.thread = event.thread("eventThread").unwrap_or_default();
        Some(pin)
    }

    /// The same, but for who waited, which is left empty: for sums over millions of pins.
    #[must_use]
    pub fn of_anybody(event: &Event<'_>) -> Option<Self> {
        let layout = event.of.pin.as_ref()?;
        let number = |at: Option<usize>| {
            let (field, at) = event.part(at?)?;
            Some((field, event.number_at(field, at)?))
        };
        let plain = |at| number(at).map_or(0, |(_, number)| number);
        let nanos = |at| {
            let nanos = number(at).and_then(|(field, number)| event.to_nanos(field, number));
            nanos.unwrap_or(0)
        };
        let text = |at: Option<usize>| {
            let text = at.and_then(|at| {
                let (field, at) = event.part(at)?;
                event.text_at(field, at)
            });
            text.map_or_else(String::new, Cow::into_owned)
        };
        let duration_ns = nanos(layout.length);
        // One that lasts is dated by when it was looked at.
        let began = if layout.live { duration_ns } else { 0 };
        Some(Self {
            live: layout.live,
            start_ns: nanos(layout.start).saturating_sub(began),
            duration_ns,
            thread: Thread::default(),
            waits_for: text(layout.waits_for),
            waits_owner: text(layout.waits_owner),
            depth: plain(layout.depth),
            stranded: plain(layout.stranded),
            stranded_ns: nanos(layout.stranded_time),
            span: plain(layout.span),
            span_text: text(layout.span_text),
            kind: PinKind::shared(event, layout),
        })
    }
}

impl PinKind {
    /// The kind of a pin, from what is kept if possible.
    fn shared(event: &Event<'_>, layout: &Layout) -> Arc<Self> {
        let Some(key) = Self::key(event, layout) else {
            return Arc::new(Self::of(event));
        };
        if let Some(kind) = event.pools.kinds.borrow().get(&key) {
            return Arc::clone(kind);
        }
        let kind = Arc::new(Self::of(event));
        let mut kept = event.pools.kinds.borrow_mut();
        if kept.len() < MAX_KEPT {
            kept.insert(key, Arc::clone(&kind));
        }
        kind
    }

    /// `None` where that is too long, as with texts in line.
    fn key(event: &Event<'_>, layout: &Layout) -> Option<KindKey> {
        let mut key: KindKey = [0; size_of::<KindKey>()];
        key[0] = u8::from(layout.live);
        let mut len = 1;
        for run in &layout.shared {
            let start = *event.offsets.get(run.start)? as usize;
            let end = event.offsets.get(run.end);
            let end = end.map_or(event.bytes.len(), |end| *end as usize);
            for byte in event.bytes.get(start..end)? {
                *key.get_mut(len)? = *byte;
                len += 1;
            }
        }
        Some(key)
    }

    fn of(event: &Event<'_>) -> Self {
        let text = |name| event.text(name).unwrap_or_default();
        Self {
            carrier: event.thread("carrierThread").unwrap_or_default(),
            operation: text("blockingOperation"),
            reason: text("pinnedReason"),
            frames: event.stack(),
            pinned_at: text("pinnedAt"),
            blocked_at: text("blockedAt"),
            lock: text("lock"),
            native: text("native"),
            outcome: text("outcome"),
            source: text("source"),
        }
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
