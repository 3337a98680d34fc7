//! For this module's tests: a subscriber that collects, sample events, and a timer that ends a hang.

use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Metadata, Subscriber};

use super::*;

/// What a test does inside the subscriber.
type Action = dyn Fn(&Event) + Send + Sync;

/// Collects the runtime's events, decoded, and acts on each first as the test says.
#[derive(Clone, Default)]
pub(super) struct Capture {
    events: Arc<Mutex<Vec<Event>>>,
    act: Option<Arc<Action>>,
    traces: bool,
}

impl Capture {
    /// One that wants TRACE events too.
    pub(super) fn with_traces() -> Self {
        Self {
            traces: true,
            ..Self::default()
        }
    }

    /// One that calls `act` with each event before it is collected.
    pub(super) fn acting(act: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self {
            act: Some(Arc::new(act)),
            ..Self::default()
        }
    }

    pub(super) fn dispatch(&self) -> Dispatch {
        Dispatch::new(self.clone())
    }

    pub(super) fn events(&self) -> Vec<Event> {
        self.events.lock().clone()
    }

    /// Pins received, and pins reported as dropped.
    pub(super) fn pins(&self) -> (u64, u64) {
        self.events
            .lock()
            .iter()
            .fold((0, 0), |(seen, dropped), event| match event {
                Event::VirtualThreadPinned(_) => (seen + 1, dropped),
                Event::EventsDropped {
                    class: EventClass::Pins,
                    count,
                } => (seen, dropped + count),
                _ => (seen, dropped),
            })
    }
}

impl Subscriber for Capture {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.traces || *metadata.level() != tracing::Level::TRACE
    }

    fn event(&self, event: &tracing::Event<'_>) {
        let Some(event) = decode(event) else { return };
        if let Some(act) = &self.act {
            act(&event);
        }
        self.events.lock().push(event);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// A pin with every field set.
pub(super) fn raw_pin<'a>(thread: u64, name: Option<&'a str>, stack: &'a [u64]) -> RawPinned<'a> {
    RawPinned {
        thread,
        name,
        reason: PinReason::Monitor,
        operation: Operation::MonitorWait,
        start: Timestamp(1_000),
        end: Timestamp(26_000_000),
        pinned_at: Some(Location::caller()),
        blocked_at: Some(Location::caller()),
        lock: Some(Subject {
            kind: "Monitor",
            name: Some("orders"),
            id: 0x7f00,
        }),
        waits_for: Some(Subject {
            kind: "ReentrantLock",
            name: None,
            id: 0x7f12_3456,
        }),
        waits_owner: 9,
        native: Some("nanosleep"),
        depth: 3,
        stranded: 4,
        stranded_ns: 5_000_000_000,
        outcome: WaitOutcome::Timeout,
        source: PinSource::Declared,
        span: Some(77),
        stack,
    }
}

/// The events of a carrier's records and of [`Hub::report`], one of each kind, all fields set.
pub(super) fn one_of_each() -> Vec<Event> {
    let thread = || ThreadRef {
        id: 7,
        name: "checkout, \"main\"".into(),
    };
    let place = || {
        Some(Place {
            file: "src/a:b c.rs".into(),
            line: 12,
            column: 9,
        })
    };
    let mut pinned = raw_pin(7, Some("worker"), &[0x55d0_0000_1000, u64::MAX]).to_pinned(1, None);
    pinned.blocked_at = place();
    let bare = Pinned {
        span: None,
        pinned_at: None,
        blocked_at: None,
        lock: None,
        waits_for: None,
        waits_owner: None,
        native: None,
        stack: Vec::new(),
        ..pinned.clone()
    };
    let compensation = |cause: &str| Compensation {
        reason: "native".into(),
        live: 3,
        max: 4,
        cause: cause.into(),
    };
    let stalled = |native: Option<&str>, stack| Stalled {
        carrier: 1,
        thread: thread(),
        state: CarrierState::CpuStarved,
        stranded: 2,
        elapsed: Duration::from_millis(210),
        native: native.map(Arc::from),
        stack,
    };
    vec![
        Event::VirtualThreadPinned(pinned.clone()),
        Event::VirtualThreadPinned(bare.clone()),
        Event::VirtualThreadPinnedLive(pinned),
        Event::VirtualThreadPinnedLive(bare),
        Event::PinnedDeadlock(Deadlock {
            kind: DeadlockKind::OwnerStranded,
            lock: Some("ReentrantLock@0x7f12".into()),
            owner: Some("#7 worker".into()),
            carriers: vec![0, 1, 12],
            cycle: "#7 worker holds G; carrier 0 waits for G".into(),
        }),
        Event::PinnedDeadlock(Deadlock {
            kind: DeadlockKind::AllCarriersPinned,
            lock: None,
            owner: None,
            carriers: Vec::new(),
            cycle: "".into(),
        }),
        Event::CarrierStalled(stalled(Some("read"), vec![1, 2, 3])),
        Event::CarrierStalled(stalled(None, Vec::new())),
        Event::CarrierMostlyPinned(MostlyPinned {
            carrier: 1,
            pinned: Duration::from_millis(830),
            window: Duration::from_millis(1001),
            pinned_at: place(),
            blocked_at: None,
        }),
        Event::CarrierCompensated(compensation("")),
        Event::CompensationExhausted(compensation("cap")),
        Event::NativeCall {
            thread: thread(),
            carrier: 1,
            native: "sqlite3_step".into(),
            wall: Duration::from_nanos(31_000_001),
            state: CarrierState::Blocked,
        },
        Event::OffloadQueued {
            thread: thread(),
            queued: Duration::from_millis(25),
            max: 64,
        },
        Event::VirtualThreadSubmitFailed {
            cause: "stack limit".into(),
            live: 32_000,
            cap: 32_000,
        },
        Event::VirtualThreadStart {
            thread: thread(),
            carrier: 0,
        },
        Event::VirtualThreadEnd {
            thread: thread(),
            carrier: 0,
        },
        Event::VirtualThreadPark {
            thread: thread(),
            operation: Operation::IoRead,
        },
        Event::VirtualThreadUnpark {
            thread: thread(),
            operation: Operation::IoRead,
            parked: Duration::from_nanos(17),
        },
        Event::MonitorLeaked {
            thread: thread(),
            lock: Some("Monitor@0x1".into()),
            pinned_at: place(),
        },
        Event::MonitorLeaked {
            thread: thread(),
            lock: None,
            pinned_at: None,
        },
        Event::EventsDropped {
            class: EventClass::Lifetimes,
            count: u64::MAX,
        },
    ]
}

/// Ends the process if the test does not drop it in time: a hang is a failure.
pub(super) struct KillTimer(#[expect(dead_code, reason = "its drop is the signal")] Sender<()>);

impl KillTimer {
    pub(super) fn start() -> Self {
        let (alive, watch) = channel::<()>();
        let guard = move || {
            if watch.recv_timeout(Duration::from_secs(60)) == Err(RecvTimeoutError::Timeout) {
                eprintln!("a test hangs: ending the process");
                std::process::abort();
            }
        };
        thread::Builder::new()
            .name("kill-timer".into())
            .spawn(guard)
            .expect("a thread for the timer");
        Self(alive)
    }
}
