//! The event schema: names, fields and values of everything the runtime reports.
//!
//! This is the only definition. The runtime emits these types as [`tracing`] events (target
//! [`TARGET`], event name = [`Event::name`], one field per entry of the table), the flight recorder
//! stores them, tests compare them field by field. The JDK's names and fields are used where it has
//! them (`jdk.VirtualThreadPinned`: parked while pinned, threshold 20 ms by default).
//!
//! | event | level | fields | in `.jfr` |
//! | --- | --- | --- | --- |
//! | `VirtualThreadPinned` | WARN | `thread.id thread.name carrier.id span.id reason operation duration_ns pinned_at blocked_at lock waits_for waits_owner native depth stranded stranded_ns outcome source stack` | `jdk.VirtualThreadPinned` |
//! | `VirtualThreadPinnedLive` | WARN | `thread.id thread.name carrier.id span.id reason operation elapsed_ns pinned_at blocked_at lock waits_for waits_owner native depth stranded stranded_ns outcome source stack` | `vt.VirtualThreadPinnedLive` |
//! | `PinnedDeadlock` | ERROR | `kind lock owner carriers cycle` | `vt.PinnedDeadlock` |
//! | `CarrierStalled` | WARN | `carrier.id thread.id thread.name state stranded elapsed_ns native stack` | `vt.CarrierStalled` |
//! | `CarrierMostlyPinned` | WARN | `carrier.id pinned_ns window_ns pinned_at blocked_at advice` | |
//! | `CarrierCompensated` | INFO | `reason live max cause` | `vt.CarrierCompensated` |
//! | `CompensationExhausted` | WARN | `reason live max cause` | `vt.CompensationExhausted` |
//! | `NativeCall` | DEBUG | `thread.id thread.name carrier.id native wall_ns state` | `vt.NativeCall` |
//! | `OffloadQueued` | INFO | `thread.id thread.name queued_ns max` | `vt.OffloadQueued` |
//! | `VirtualThreadSubmitFailed` | ERROR | `cause live cap` | `jdk.VirtualThreadSubmitFailed` |
//! | `VirtualThreadStart` | TRACE | `thread.id thread.name carrier.id` | `jdk.VirtualThreadStart` |
//! | `VirtualThreadEnd` | TRACE | `thread.id thread.name carrier.id` | `jdk.VirtualThreadEnd` |
//! | `VirtualThreadPark` | TRACE | `thread.id thread.name operation` | |
//! | `VirtualThreadUnpark` | TRACE | `thread.id thread.name operation parked_ns` | `jdk.ThreadPark` |
//! | `MonitorLeaked` | ERROR | `thread.id thread.name lock pinned_at` | `vt.MonitorLeaked` |
//! | `EventsDropped` | WARN | `class count` | `vt.EventsDropped` |
//!
//! In a recording the JDK's fields come first, then ours in camel case (`pinnedAt`; a time in nanoseconds as a
//! span without the unit in its name: `strandedTime`, `elapsed`). A park
//! and its unpark are one `jdk.ThreadPark`; the park alone is only for subscribers, and so is `CarrierMostlyPinned`, which
//! says nothing that the recorded pins do not.
//!
//! Units: every `*_ns` field is nanoseconds; ids and counts are integers, the rest is text; places are
//! `path:line:column`, relative to the workspace that was built; lists are joined by commas. Text that
//! does not apply is absent, except `blocked_at`, which says [`UNKNOWN`].
//!
//! # From a carrier to a subscriber
//!
//! ```text
//!  carrier: hub ──> its lane: four rings by worth ──┬──> vt-events: own cursors ──> emit ──> subscribers
//!                                                   │
//!  watchdog, spawners: hub ──> journal ─────────────┴──> Reader: own cursors ──> flight recorder
//! ```
//!
//! Subscribers run on the thread `vt-events`, never on a carrier: one that blocks delays events and
//! nothing else, one that panics loses that event. A subscriber that is the default of one thread only
//! (`tracing::subscriber::with_default`) is not asked; give it to the runtime by `dispatch`.
//! Records wait in rings of bounded size; what is overwritten is counted and reported as `EventsDropped`.

pub mod clock;

mod raw;

mod hub;

mod store;

mod codec;

mod reader;

mod service;

mod decode;

#[cfg(test)]
mod capture;

pub use decode::decode;
pub use reader::Reader;
pub use service::Delivery;
pub use service::exit::at_exit;
#[doc(hidden)]
pub use service::source::is_of_runtime;
pub use service::source::{Frame, application_line, symbolize};

pub(crate) use self::{
    clock::{now, recently},
    codec::MAX_STACK,
    hub::{DEFAULT_CAPACITY, DEFAULT_STACK_DEPTH, Hub},
    raw::{Cost, Lifetime, RawNative, RawPinned, Subject},
    service::source::of_application,
    store::sites::Site,
};

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The `tracing` target of every event of the runtime.
pub const TARGET: &str = "vt_runtime";

/// `blocked_at` where the application's line cannot be told.
pub const UNKNOWN: &str = "unknown";

/// The duration from which a pinned wait is reported unless the user says otherwise (the JDK's
/// default for `jdk.VirtualThreadPinned`).
pub const DEFAULT_PIN_THRESHOLD: Duration = Duration::from_millis(20);

/// How long the pins of one site took, those below the threshold included.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PinSite {
    /// Where the outermost pin was taken. Neither place is told of sites too many to be kept apart.
    pub pinned_at: Option<Place>,
    /// The application's line that waited, where it can be told.
    pub blocked_at: Option<Place>,
    /// Why it could not unmount.
    pub reason: PinReason,
    /// What pinned: the lock by its name or address, the label of the critical region or foreign call.
    pub holder: Option<String>,
    /// How many pins.
    pub count: u64,
    /// Their durations, summed.
    pub total: Duration,
    /// The longest of them.
    pub longest: Duration,
    /// How long others waited for them, summed: a lower bound.
    pub stranded_time: Duration,
    /// How many took less than each bound, and no less than the one before; bounds are a quarter apart.
    pub histogram: Vec<(Duration, u64)>,
}

/// Declares a field-less enum whose variants have a fixed spelling in events and recordings.
macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The spelling in events and recordings.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value with this spelling.
            #[must_use]
            pub fn from_text(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.as_str() == text)
            }

            /// The value with this number (`value as u8`), as stored in a ring.
            #[must_use]
            pub fn from_code(code: u64) -> Option<Self> {
                Self::ALL.get(usize::try_from(code).ok()?).copied()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

spelled! {
    /// Why a virtual thread cannot unmount.
    PinReason {
        /// It holds a `Monitor`.
        Monitor = "monitor",
        /// A declared foreign call is on its stack.
        Native = "native",
        /// It is inside `pinned::critical`.
        Critical = "critical",
        /// A panic is unwinding its stack.
        Unwinding = "unwinding",
    }
}

spelled! {
    /// What a virtual thread waits for.
    Operation {
        /// `thread::park`.
        Park = "park",
        /// `thread::sleep`.
        Sleep = "sleep",
        /// A park-aware lock.
        Lock = "lock",
        /// A contended `Monitor::enter`.
        MonitorEnter = "monitor_enter",
        /// `Monitor::wait`.
        MonitorWait = "monitor_wait",
        /// A condition of a park-aware lock.
        Condition = "condition",
        /// `JoinHandle::join`.
        Join = "join",
        /// The end of a scope.
        Scope = "scope",
        /// A channel's send or receive.
        Channel = "channel",
        /// A semaphore's permit.
        Semaphore = "semaphore",
        /// A latch or barrier.
        Latch = "latch",
        /// The initialiser of a once cell, run by another thread.
        Once = "once",
        /// Bytes to read.
        IoRead = "io_read",
        /// Room to write.
        IoWrite = "io_write",
        /// A connection to accept.
        Accept = "accept",
        /// A connection to be made.
        Connect = "connect",
        /// Work given to the offload pool.
        Blocking = "blocking",
        /// A future driven by `future::block_on`.
        Future = "future",
        /// A foreign call that blocks the carrier itself.
        NativeCall = "native_call",
    }
}

spelled! {
    /// How a wait ended.
    WaitOutcome {
        /// What was waited for came.
        Done = "done",
        /// The deadline passed first.
        Timeout = "timeout",
        /// The thread was interrupted.
        Interrupted = "interrupted",
    }
}

spelled! {
    /// How the runtime learned of a pin.
    PinSource {
        /// A wait of the runtime's own API.
        Wait = "wait",
        /// A declared foreign call (`native::call`, `#[native]`) that blocked.
        Declared = "declared",
        /// Undeclared blocking, seen from outside by the watchdog.
        Sampled = "sampled",
    }
}

spelled! {
    /// What a carrier does that has not come to a wait for long.
    CarrierState {
        /// It sleeps in the kernel.
        Blocked = "blocked",
        /// It runs.
        Computing = "computing",
        /// It is ready to run, but the operating system gives it no core.
        CpuStarved = "cpu_starved",
        /// The platform does not tell.
        Unknown = "unknown",
    }
}

spelled! {
    /// The shape of a deadlock in which carriers take part.
    DeadlockKind {
        /// The lock's owner is unmounted and its carrier is blocked.
        OwnerStranded = "owner_stranded",
        /// The lock is free, but kept for one that cannot run.
        SuccessorStranded = "successor_stranded",
        /// Every carrier is blocked and work is pending.
        AllCarriersPinned = "all_carriers_pinned",
        /// Threads that keep their carriers wait for each other's locks.
        LockOrder = "lock_order",
        /// The holder waits for itself.
        SelfWait = "self",
        /// The carrier waits in user code for a lock that one of its own threads holds.
        CarrierSelfLock = "carrier_self_lock",
    }
}

spelled! {
    /// What a record is worth when a ring is full: the classes are kept apart, so that a flood of one
    /// never evicts another.
    EventClass {
        /// Pins, deadlocks, stalls, errors.
        Pins = "pins",
        /// Contention and native calls.
        Contention = "contention",
        /// Park and unpark.
        Parks = "parks",
        /// Start and end.
        Lifetimes = "lifetimes",
    }
}

impl EventClass {
    /// How many classes there are.
    pub const COUNT: usize = Self::ALL.len();
}

/// A point in time: nanoseconds since an arbitrary, fixed start of this process
/// ([`crate::event::clock`] relates it to the wall clock).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

/// A virtual thread as events name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadRef {
    /// `thread.id`, never reused within a process.
    pub id: u64,
    /// `thread.name`; `vt-<n>` unless the user gave one.
    pub name: Arc<str>,
}

/// A place in source, `path:line:column`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// As the compiler was given it: relative to the workspace for its own members.
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// `VirtualThreadPinned` and `VirtualThreadPinnedLive`: a virtual thread waited and kept its carrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// `thread.id`, `thread.name`.
    pub thread: ThreadRef,
    /// `carrier.id`.
    pub carrier: u64,
    /// `span.id`: the span the thread was in, where its subscriber numbers them.
    pub span: Option<u64>,
    /// `reason`: of the outermost pin.
    pub reason: PinReason,
    /// `operation`: what it waited for.
    pub operation: Operation,
    /// When the wait began.
    pub start: Timestamp,
    /// `duration_ns` (`elapsed_ns` while it lasts).
    pub duration: Duration,
    /// `pinned_at`: where the outermost pin was taken.
    pub pinned_at: Option<Place>,
    /// `blocked_at`: the application's line that waited; `unknown` where it cannot be told.
    pub blocked_at: Option<Place>,
    /// `lock`: the monitor that pins, or the label of the critical region.
    pub lock: Option<Arc<str>>,
    /// `waits_for`: the lock, thread or other thing waited for.
    pub waits_for: Option<Arc<str>>,
    /// `waits_owner`: who has it, as `#7 name`.
    pub waits_owner: Option<Arc<str>>,
    /// `native`: the label of the foreign call, or the system call's name.
    pub native: Option<Arc<str>>,
    /// `depth`: how many pins were held.
    pub depth: u32,
    /// `stranded`: virtual threads of this carrier that were ready to run meanwhile.
    pub stranded: u32,
    /// `stranded_ns`: their waiting, summed (a lower bound).
    pub stranded_time: Duration,
    /// `outcome`.
    pub outcome: WaitOutcome,
    /// `source`.
    pub source: PinSource,
    /// `stack`: return addresses, innermost first; empty where none could be taken.
    pub stack: Vec<u64>,
}

/// `PinnedDeadlock`: a cycle of threads, locks and carriers that cannot end by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// `kind`.
    pub kind: DeadlockKind,
    /// `lock`: the lock in the middle of it.
    pub lock: Option<Arc<str>>,
    /// `owner`: its holder, as `#7 name`.
    pub owner: Option<Arc<str>>,
    /// `carriers`: the blocked ones.
    pub carriers: Vec<u64>,
    /// `cycle`: the whole story in one line.
    pub cycle: Arc<str>,
}

/// `CarrierStalled`: a carrier has not come to a wait for ten thresholds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stalled {
    /// `carrier.id`.
    pub carrier: u64,
    /// `thread.id`, `thread.name` of the mounted thread.
    pub thread: ThreadRef,
    /// `state`.
    pub state: CarrierState,
    /// `stranded`: threads of this carrier known to be ready.
    pub stranded: u32,
    /// `elapsed_ns` since it was mounted.
    pub elapsed: Duration,
    /// `native`: the system call it sits in, where the platform tells.
    pub native: Option<Arc<str>>,
    /// `stack`: return addresses, innermost first.
    pub stack: Vec<u64>,
}

/// `CarrierMostlyPinned`: pins took more than half of a carrier's last second. Your service is a thread pool again.
///
/// Reported when it begins; again only after a second in which pins took less. In `advice` the event says the same in
/// words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MostlyPinned {
    /// `carrier.id`.
    pub carrier: u64,
    /// `pinned_ns`: time in pins within the window.
    pub pinned: Duration,
    /// `window_ns`.
    pub window: Duration,
    /// `pinned_at` of the site that took most of it.
    pub pinned_at: Option<Place>,
    /// `blocked_at` of that site.
    pub blocked_at: Option<Place>,
}

/// `CarrierCompensated` and `CompensationExhausted`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compensation {
    /// `reason`: what blocks the carrier that is compensated for.
    pub reason: Arc<str>,
    /// `live`: carriers alive.
    pub live: u64,
    /// `max`: carriers allowed.
    pub max: u64,
    /// `cause`: `cap` or `os` when refused, else empty.
    pub cause: Arc<str>,
}

/// One event, as a reader of the runtime's rings gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A pinned wait ended.
    VirtualThreadPinned(Pinned),
    /// A pin lasts.
    VirtualThreadPinnedLive(Pinned),
    /// A deadlock exists.
    PinnedDeadlock(Deadlock),
    /// A carrier is stuck.
    CarrierStalled(Stalled),
    /// Pins take most of a carrier's time.
    CarrierMostlyPinned(MostlyPinned),
    /// A spare carrier was started.
    CarrierCompensated(Compensation),
    /// A spare carrier was refused.
    CompensationExhausted(Compensation),
    /// A declared foreign call took at least the threshold.
    NativeCall {
        /// `thread.id`, `thread.name`.
        thread: ThreadRef,
        /// `carrier.id`.
        carrier: u64,
        /// `native`: its label.
        native: Arc<str>,
        /// `wall_ns`.
        wall: Duration,
        /// `state`: blocked, computing or starved.
        state: CarrierState,
    },
    /// Work sent to the offload pool waited for one of its threads for at least the threshold.
    OffloadQueued {
        /// `thread.id`, `thread.name`: who sent it.
        thread: ThreadRef,
        /// `queued_ns`.
        queued: Duration,
        /// `max`: threads that the pool may have.
        max: u64,
    },
    /// A spawn was refused.
    VirtualThreadSubmitFailed {
        /// `cause`.
        cause: Arc<str>,
        /// `live`: threads alive.
        live: u64,
        /// `cap`: threads allowed.
        cap: u64,
    },
    /// A virtual thread was mounted for the first time.
    VirtualThreadStart {
        /// `thread.id`, `thread.name`.
        thread: ThreadRef,
        /// `carrier.id`: its home for life.
        carrier: u64,
    },
    /// A virtual thread ended.
    VirtualThreadEnd {
        /// `thread.id`, `thread.name`.
        thread: ThreadRef,
        /// `carrier.id`.
        carrier: u64,
    },
    /// A virtual thread unmounted to wait.
    VirtualThreadPark {
        /// `thread.id`, `thread.name`.
        thread: ThreadRef,
        /// `operation`.
        operation: Operation,
    },
    /// It was mounted again.
    VirtualThreadUnpark {
        /// `thread.id`, `thread.name`.
        thread: ThreadRef,
        /// `operation`.
        operation: Operation,
        /// How long it was away.
        parked: Duration,
    },
    /// A virtual thread ended while it held a monitor.
    MonitorLeaked {
        /// `thread.id`, `thread.name`.
        thread: ThreadRef,
        /// `lock`.
        lock: Option<Arc<str>>,
        /// `pinned_at`.
        pinned_at: Option<Place>,
    },
    /// Records were overwritten before a reader saw them.
    EventsDropped {
        /// `class`.
        class: EventClass,
        /// `count`.
        count: u64,
    },
}

impl Event {
    /// What a record of it is worth when a ring is full.
    #[must_use]
    pub const fn class(&self) -> EventClass {
        match self {
            Self::NativeCall { .. } | Self::OffloadQueued { .. } => EventClass::Contention,
            Self::VirtualThreadStart { .. } | Self::VirtualThreadEnd { .. } => {
                EventClass::Lifetimes
            }
            Self::VirtualThreadPark { .. } | Self::VirtualThreadUnpark { .. } => EventClass::Parks,
            _ => EventClass::Pins,
        }
    }

    /// The name of its type in a recording; `None` for [`VirtualThreadPark`](Self::VirtualThreadPark),
    /// which is recorded with its unpark, and for [`CarrierMostlyPinned`](Self::CarrierMostlyPinned).
    #[must_use]
    pub const fn jfr_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::VirtualThreadPinned(_) => "jdk.VirtualThreadPinned",
            Self::VirtualThreadPinnedLive(_) => "vt.VirtualThreadPinnedLive",
            Self::PinnedDeadlock(_) => "vt.PinnedDeadlock",
            Self::CarrierStalled(_) => "vt.CarrierStalled",
            Self::CarrierMostlyPinned(_) => return None,
            Self::CarrierCompensated(_) => "vt.CarrierCompensated",
            Self::CompensationExhausted(_) => "vt.CompensationExhausted",
            Self::NativeCall { .. } => "vt.NativeCall",
            Self::OffloadQueued { .. } => "vt.OffloadQueued",
            Self::VirtualThreadSubmitFailed { .. } => "jdk.VirtualThreadSubmitFailed",
            Self::VirtualThreadStart { .. } => "jdk.VirtualThreadStart",
            Self::VirtualThreadEnd { .. } => "jdk.VirtualThreadEnd",
            Self::VirtualThreadPark { .. } => return None,
            Self::VirtualThreadUnpark { .. } => "jdk.ThreadPark",
            Self::MonitorLeaked { .. } => "vt.MonitorLeaked",
            Self::EventsDropped { .. } => "vt.EventsDropped",
        })
    }

    /// The event's name, as in `tracing` metadata.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::VirtualThreadPinned(_) => "VirtualThreadPinned",
            Self::VirtualThreadPinnedLive(_) => "VirtualThreadPinnedLive",
            Self::PinnedDeadlock(_) => "PinnedDeadlock",
            Self::CarrierStalled(_) => "CarrierStalled",
            Self::CarrierMostlyPinned(_) => "CarrierMostlyPinned",
            Self::CarrierCompensated(_) => "CarrierCompensated",
            Self::CompensationExhausted(_) => "CompensationExhausted",
            Self::NativeCall { .. } => "NativeCall",
            Self::OffloadQueued { .. } => "OffloadQueued",
            Self::VirtualThreadSubmitFailed { .. } => "VirtualThreadSubmitFailed",
            Self::VirtualThreadStart { .. } => "VirtualThreadStart",
            Self::VirtualThreadEnd { .. } => "VirtualThreadEnd",
            Self::VirtualThreadPark { .. } => "VirtualThreadPark",
            Self::VirtualThreadUnpark { .. } => "VirtualThreadUnpark",
            Self::MonitorLeaked { .. } => "MonitorLeaked",
            Self::EventsDropped { .. } => "EventsDropped",
        }
    }
}

/// An event with the moment it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// When it was recorded (for a pinned wait: at its end).
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}
