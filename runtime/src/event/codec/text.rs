//! How threads, locks and whole pins are written in events.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::{MAX_STACK, place};
use crate::event::raw::{RawPinned, Subject};
use crate::event::{Pinned, Place, ThreadRef};

/// Finds the name of a virtual thread by its id, for texts that mention others (`#7 name`).
pub(crate) type ThreadNames = dyn Fn(u64) -> Option<Arc<str>> + Send + Sync;

/// The name of a virtual thread: the given one, else `vt-<n>`, counted from 0 where ids begin at 1.
pub(crate) fn thread_name(id: u64, given: Option<&str>) -> Arc<str> {
    given.map_or_else(|| format!("vt-{}", id.saturating_sub(1)).into(), Arc::from)
}

/// A thread in a text: `#7 name`, or `#7` when it is gone or nobody can tell.
pub(crate) fn thread(id: u64, names: Option<&ThreadNames>) -> Arc<str> {
    match names.and_then(|names| names(id)) {
        Some(name) => format!("#{id} {name}").into(),
        None => format!("#{id}").into(),
    }
}

/// A lock, thread or other thing in a text: its name, else `#7 name` for a thread, else `Kind@0x7f12..`.
pub(crate) fn subject(subject: Subject, names: Option<&ThreadNames>) -> Arc<str> {
    match subject.name {
        None if subject.kind == Subject::THREAD => thread(subject.id, names),
        _ => subject.to_string().into(),
    }
}

impl From<&'static Location<'static>> for Place {
    fn from(location: &'static Location<'static>) -> Self {
        Self {
            file: location.file().into(),
            line: location.line(),
            column: location.column(),
        }
    }
}

impl RawPinned<'_> {
    /// The same as an event, for those that report from off the carriers.
    pub(in crate::event) fn to_pinned(self, carrier: u64, names: Option<&ThreadNames>) -> Pinned {
        Pinned {
            thread: ThreadRef {
                id: self.thread,
                name: thread_name(self.thread, self.name),
            },
            carrier,
            span: self.span,
            reason: self.reason,
            operation: self.operation,
            start: self.start,
            duration: self.end.since(self.start),
            pinned_at: self.pinned_at.map(Place::from),
            blocked_at: self
                .blocked_at
                .map(Place::from)
                .filter(place::is_application),
            lock: self.lock.map(|lock| subject(lock, names)),
            waits_for: self.waits_for.map(|awaited| subject(awaited, names)),
            waits_owner: (self.waits_owner != 0).then(|| thread(self.waits_owner, names)),
            native: self.native.map(Arc::from),
            depth: self.depth,
            stranded: self.stranded,
            stranded_time: Duration::from_nanos(self.stranded_ns),
            outcome: self.outcome,
            source: self.source,
            stack: self.stack[..self.stack.len().min(MAX_STACK)].to_vec(),
        }
    }
}
