//! What a dump says about one virtual thread.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use super::ThreadId;
use crate::continuation;
use crate::event::{self, Place};
use crate::park::Record;
use crate::primitive::Ordering;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadState {
    /// Spawned, never mounted.
    New,
    /// Ready or running.
    Runnable,
    /// Unmounted, waiting.
    Waiting,
    /// Waiting and pinned: it keeps its carrier.
    Pinned,
    /// Ended.
    Terminated,
}

impl ThreadState {
    /// What a thread can be doing before it has ended.
    pub(crate) const LIVE: [Self; 4] = [Self::New, Self::Runnable, Self::Waiting, Self::Pinned];

    pub(crate) fn of(record: &Record) -> Self {
        if record.has_ended() {
            Self::Terminated
        } else if record.as_virtual().is_some() && !record.has_started() {
            Self::New
        } else if record.pinned.load(Ordering::Relaxed) {
            Self::Pinned
        } else if record.waiting().is_some() {
            Self::Waiting
        } else {
            Self::Runnable
        }
    }
}

impl fmt::Display for ThreadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "new",
            Self::Runnable => "runnable",
            Self::Waiting => "waiting",
            Self::Pinned => "pinned",
            Self::Terminated => "terminated",
        })
    }
}

/// One virtual thread, as [`Runtime::threads`](crate::Runtime::threads) saw it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadInfo {
    /// Its number.
    pub id: ThreadId,
    /// Its name, `vt-<n>` unless it was given one.
    pub name: Arc<str>,
    /// What it does.
    pub state: ThreadState,
    /// The carrier it lives on, from its first mount.
    pub carrier: Option<usize>,
    /// What it waits for: the operation, and the lock or thread where there is one.
    pub waits_for: Option<String>,
    /// The caller that waits, as `path:line:column`.
    pub waits_at: Option<String>,
    /// The wait ends by itself at some time.
    pub timed: bool,
    /// Who has that, where known.
    pub waits_owner: Option<u64>,
    /// For how long it has waited.
    pub since: Option<Duration>,
    /// For how long it has kept its carrier while waiting.
    pub pinned_for: Option<Duration>,
    /// Bytes of its stack that are in memory: how deep it has been, in whole pages. A stack that served
    /// others before may remember how deep they were. 0 before the first mount.
    pub stack_used: usize,
    /// Label of the declared foreign call it is inside.
    pub native: Option<&'static str>,
    /// The thread that spawned it.
    pub parent: Option<u64>,
    /// Return addresses, innermost first. Only [`Runtime::thread_dump`](crate::Runtime::thread_dump) looks for them.
    pub stack: Vec<u64>,
}

impl ThreadInfo {
    pub(crate) fn of(record: &Arc<Record>) -> Self {
        Dump::new().entry(record)
    }
}

/// One dump: what its entries have in common is read or rendered once.
pub(crate) struct Dump {
    now: u64,
    /// Source places by the addresses of their locations.
    places: HashMap<usize, String>,
}

impl Dump {
    pub(crate) fn new() -> Self {
        Self {
            now: event::now().0,
            places: HashMap::new(),
        }
    }

    fn age(&self, since: u64) -> Duration {
        Duration::from_nanos(self.now.saturating_sub(since))
    }

    fn place(&mut self, at: &'static Location<'static>) -> String {
        let rendered = self.places.entry(ptr::from_ref(at).addr());
        rendered
            .or_insert_with(|| Place::from(at).to_string())
            .clone()
    }

    /// What is seen of that thread now.
    pub(crate) fn entry(&mut self, record: &Arc<Record>) -> ThreadInfo {
        let waiting = record.waiting();
        let carrier = record
            .as_virtual()
            .zip(record.home())
            .map(|(part, home)| part.runtime.carrier(home))
            .filter(|carrier| carrier.mounted.load(Ordering::Relaxed) == record.id);
        let native = carrier.and_then(|carrier| carrier.open_native());
        let pinned_for = record.pinned.load(Ordering::Relaxed).then(|| {
            let open = carrier.and_then(|carrier| carrier.open_pin());
            open.map_or(Duration::ZERO, |open| self.age(open.start.0))
        });
        ThreadInfo {
            id: ThreadId::of(record),
            name: record.display_name(),
            state: ThreadState::of(record),
            carrier: record.home(),
            waits_for: waiting.map(|waiting| match waiting.subject {
                Some(subject) => format!("{} {subject}", waiting.operation),
                None => waiting.operation.as_str().to_owned(),
            }),
            waits_at: waiting.map(|waiting| self.place(waiting.at)),
            timed: waiting.is_some_and(|waiting| waiting.timed),
            waits_owner: waiting
                .map(|waiting| waiting.owner)
                .filter(|&owner| owner != 0),
            since: waiting.map(|waiting| self.age(waiting.since)),
            pinned_for,
            stack_used: record
                .as_virtual()
                .and_then(|part| part.stack())
                .map_or(0, |stack| continuation::stack_used(&stack)),
            native: native.map(|open| open.label),
            parent: (record.parent != 0).then_some(record.parent),
            stack: Vec::new(),
        }
    }
}
