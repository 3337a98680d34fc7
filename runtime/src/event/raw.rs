//! What a carrier hands over at an event: plain, borrowed, nothing allocated.
//!
//! Names are rendered and places formatted by whoever drains the rings, never on a carrier.

use std::fmt;
use std::panic::Location;

use super::{CarrierState, Operation, PinReason, PinSource, Timestamp, WaitOutcome};

/// A lock, thread or other thing that pins or is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    /// What it is: `Monitor`, `ReentrantLock`, `critical`; [`Subject::THREAD`] for a virtual thread.
    pub(crate) kind: &'static str,
    /// The name the user gave it, if any.
    pub(crate) name: Option<&'static str>,
    /// Its address, or the thread's id.
    pub(crate) id: u64,
}

impl Subject {
    /// The kind of a virtual thread: rendered `#7 name`.
    pub(crate) const THREAD: &'static str = "thread";
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => f.write_str(name),
            None if self.kind == Self::THREAD => write!(f, "#{}", self.id),
            None => write!(f, "{}@{:#x}", self.kind, self.id),
        }
    }
}

/// A pinned wait that ended (or, in the watchdog's hands, one that lasts).
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawPinned<'a> {
    /// `thread.id`.
    pub(crate) thread: u64,
    /// `thread.name`; `vt-<n>` where none was given.
    pub(crate) name: Option<&'a str>,
    /// Reason of the outermost pin.
    pub(crate) reason: PinReason,
    /// What was waited for.
    pub(crate) operation: Operation,
    /// When the wait began.
    pub(crate) start: Timestamp,
    /// When it ended.
    pub(crate) end: Timestamp,
    /// Where the outermost pin was taken.
    pub(crate) pinned_at: Option<&'static Location<'static>>,
    /// The caller that waited.
    pub(crate) blocked_at: Option<&'static Location<'static>>,
    /// The monitor that pins, or the label of the critical region.
    pub(crate) lock: Option<Subject>,
    /// What is waited for.
    pub(crate) waits_for: Option<Subject>,
    /// Id of the virtual thread that has it, 0 for none.
    pub(crate) waits_owner: u64,
    /// The label of the foreign call.
    pub(crate) native: Option<&'static str>,
    /// How many pins were held.
    pub(crate) depth: u32,
    /// Threads of this carrier that were ready meanwhile.
    pub(crate) stranded: u32,
    /// Their waiting, summed.
    pub(crate) stranded_ns: u64,
    /// How the wait ended.
    pub(crate) outcome: WaitOutcome,
    /// How the runtime learned of it.
    pub(crate) source: PinSource,
    /// The span the thread was in.
    pub(crate) span: Option<u64>,
    /// Return addresses, innermost first.
    pub(crate) stack: &'a [u64],
}

/// What a pin cost, whatever the threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Where the outermost pin was taken.
    pub(crate) pinned_at: Option<&'static Location<'static>>,
    /// The caller that waited.
    pub(crate) blocked_at: Option<&'static Location<'static>>,
    /// Reason of the outermost pin.
    pub(crate) reason: PinReason,
    /// What pins: the monitor, the critical region, the foreign call.
    pub(crate) holder: Option<Subject>,
    /// How long it took.
    pub(crate) nanos: u64,
    /// How long others waited for it, summed.
    pub(crate) stranded_ns: u64,
}

/// A declared foreign call that took at least the threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawNative<'a> {
    /// `thread.id`.
    pub(crate) thread: u64,
    /// `thread.name`; `vt-<n>` where none was given.
    pub(crate) name: Option<&'a str>,
    /// The call's label.
    pub(crate) native: &'static str,
    /// When it returned.
    pub(crate) end: Timestamp,
    /// How long it took.
    pub(crate) wall_ns: u64,
    /// What the carrier did in it.
    pub(crate) state: CarrierState,
}

/// Which end of a virtual thread's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    /// It was mounted for the first time.
    Start,
    /// Its closure returned or unwound.
    End,
}
