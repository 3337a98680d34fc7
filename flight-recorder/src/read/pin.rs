//! A pin as read back: the fields of `jdk.VirtualThreadPinned` (a JVM's or ours) and of
//! `vt.VirtualThreadPinnedLive` in one type.

use super::event::{Event, Frame, Thread};

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
    pub frames: Vec<Frame>,
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
    /// The span the thread was in.
    pub span: i64,
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
        let text = |name| event.text(name).unwrap_or_default();
        let number = |name| event.integer(name).unwrap_or(0);
        let duration_ns = event
            .nanos(if live { "elapsed" } else { "duration" })
            .unwrap_or(0);
        Some(Self {
            live,
            start_ns: event
                .start_ns()
                .saturating_sub(if live { duration_ns } else { 0 }),
            duration_ns,
            thread: event.thread("eventThread").unwrap_or_default(),
            carrier: event.thread("carrierThread").unwrap_or_default(),
            operation: text("blockingOperation"),
            reason: text("pinnedReason"),
            frames: event.stack(),
            pinned_at: text("pinnedAt"),
            blocked_at: text("blockedAt"),
            lock: text("lock"),
            waits_for: text("waitsFor"),
            waits_owner: text("waitsOwner"),
            native: text("native"),
            depth: number("depth"),
            stranded: number("stranded"),
            stranded_ns: event.nanos("strandedTime").unwrap_or(0),
            outcome: text("outcome"),
            source: text("source"),
            span: number("spanId"),
        })
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
