//! A recording with one of everything, made of fixed values: what the golden file holds and what the
//! tests compare readers against.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use vt_flight_recorder::{Function, Span, Symbolizer, Writer};
use vt_runtime::event::{
    CarrierState, Compensation, Deadlock, DeadlockKind, Event, EventClass, Operation, PinReason,
    PinSource, Pinned, Place, Recorded, Stalled, ThreadRef, Timestamp, WaitOutcome,
};

/// 2026-01-02 03:04:05 UTC.
const WALL: u64 = 1_767_323_045_000_000_000;
const START: u64 = 5_000_000_000;
const MS: u64 = 1_000_000;

/// Names the addresses that the recording's stacks use.
#[derive(Debug)]
pub(crate) struct FixedSymbols(HashMap<u64, Vec<Function>>);

impl FixedSymbols {
    pub(crate) fn new() -> Self {
        let function = |name: &str, line, inlined| Function {
            name: name.to_owned(),
            line,
            inlined,
        };
        Self(HashMap::from([
            (0x1000, vec![function("vt_runtime::park::block", 88, false)]),
            (
                0x1001,
                vec![function("vt_runtime::thread::sleep", 31, false)],
            ),
            (
                0x1002,
                vec![
                    function("shop::payment::charge::{{closure}}", 42, true),
                    function("shop::payment::charge", 40, false),
                ],
            ),
            (
                0x1003,
                vec![function("<shop::Orders<T> as shop::Store>::put", 77, false)],
            ),
            (
                0x1004,
                vec![function(
                    "core::ops::function::FnOnce::call_once",
                    250,
                    false,
                )],
            ),
        ]))
    }
}

impl Symbolizer for FixedSymbols {
    fn functions(&mut self, address: u64) -> Vec<Function> {
        self.0.get(&address).cloned().unwrap_or_default()
    }
}

fn thread(id: u64) -> ThreadRef {
    ThreadRef {
        id,
        name: format!("vt-{id}").into(),
    }
}

fn place(file: &str, line: u32) -> Place {
    Place {
        file: file.into(),
        line,
        column: 9,
    }
}

fn at(ms: u64) -> Timestamp {
    Timestamp(START + ms * MS)
}

fn some(text: &str) -> Option<Arc<str>> {
    Some(text.into())
}

/// A pin of `ms`, `began` ms after the start.
pub(crate) fn pin(id: u64, began: u64, ms: u64) -> Pinned {
    Pinned {
        thread: thread(id),
        carrier: id % 2,
        span: Some(900 + id),
        reason: PinReason::Monitor,
        operation: Operation::Sleep,
        start: at(began),
        duration: Duration::from_millis(ms),
        pinned_at: Some(place("shop/src/orders.rs", 75)),
        blocked_at: Some(place("shop/src/payment.rs", 42)),
        lock: some("orders"),
        waits_for: None,
        waits_owner: None,
        native: None,
        depth: 1,
        stranded: 3,
        stranded_time: Duration::from_millis(ms * 2),
        outcome: WaitOutcome::Done,
        source: PinSource::Wait,
        stack: vec![0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x9999],
    }
}

/// One of every event, and of pins one of every kind that views tell apart.
pub(crate) fn records() -> Vec<Recorded> {
    let mut records = Vec::new();
    let mut push = |ms, event| records.push(Recorded { at: at(ms), event });
    for id in 1..=6 {
        push(
            id,
            Event::VirtualThreadStart {
                thread: thread(id),
                carrier: id % 2,
            },
        );
    }
    push(
        20,
        Event::VirtualThreadPark {
            thread: thread(1),
            operation: Operation::Channel,
        },
    );
    push(
        29,
        Event::VirtualThreadUnpark {
            thread: thread(1),
            operation: Operation::Channel,
            parked: Duration::from_millis(9),
        },
    );
    push(55, Event::VirtualThreadPinned(pin(1, 30, 25)));
    push(140, Event::VirtualThreadPinned(pin(2, 100, 40)));
    // Contended: both the pin and the wait for the monitor.
    push(
        170,
        Event::VirtualThreadPinned(Pinned {
            operation: Operation::MonitorEnter,
            blocked_at: Some(place("shop/src/report.rs", 12)),
            waits_for: some("orders"),
            waits_owner: some("#2 vt-2"),
            stack: Vec::new(),
            stranded: 0,
            stranded_time: Duration::ZERO,
            ..pin(3, 140, 30)
        }),
    );
    // A foreign call that blocked in C, seen only from outside.
    push(
        260,
        Event::VirtualThreadPinned(Pinned {
            reason: PinReason::Native,
            operation: Operation::NativeCall,
            pinned_at: None,
            blocked_at: None,
            lock: None,
            native: some("nanosleep"),
            depth: 0,
            stranded: 1,
            stranded_time: Duration::from_millis(59),
            source: PinSource::Sampled,
            stack: vec![0x1002, 0x1003],
            ..pin(4, 200, 60)
        }),
    );
    push(
        300,
        Event::NativeCall {
            thread: thread(5),
            carrier: 1,
            native: "sqlite3_step".into(),
            wall: Duration::from_millis(22),
            state: CarrierState::Blocked,
        },
    );
    // Still pinned when the recording was dumped.
    push(
        700,
        Event::VirtualThreadPinnedLive(Pinned {
            operation: Operation::Join,
            waits_for: some("vt-6"),
            ..pin(5, 400, 300)
        }),
    );
    push(
        710,
        Event::PinnedDeadlock(Deadlock {
            kind: DeadlockKind::OwnerStranded,
            lock: some("orders"),
            owner: some("#5 vt-5"),
            carriers: vec![0, 1],
            cycle: "#5 vt-5 holds orders and waits for #6 vt-6, which lives on carrier-1".into(),
        }),
    );
    push(
        720,
        Event::CarrierStalled(Stalled {
            carrier: 1,
            thread: thread(5),
            state: CarrierState::Computing,
            stranded: 2,
            elapsed: Duration::from_millis(250),
            native: None,
            stack: vec![0x1003, 0x1004],
        }),
    );
    let compensation = |cause: &str| Compensation {
        reason: "blocking".into(),
        live: 3,
        max: 4,
        cause: cause.into(),
    };
    push(730, Event::CarrierCompensated(compensation("")));
    push(731, Event::CompensationExhausted(compensation("cap")));
    push(
        735,
        Event::OffloadQueued {
            thread: thread(3),
            queued: Duration::from_millis(25),
            max: 64,
        },
    );
    push(
        740,
        Event::VirtualThreadSubmitFailed {
            cause: "stack limit".into(),
            live: 100,
            cap: 100,
        },
    );
    push(
        750,
        Event::MonitorLeaked {
            thread: thread(3),
            lock: some("orders"),
            pinned_at: Some(place("shop/src/report.rs", 11)),
        },
    );
    for id in 1..=4 {
        push(
            800 + id,
            Event::VirtualThreadEnd {
                thread: thread(id),
                carrier: id % 2,
            },
        );
    }
    push(
        900,
        Event::EventsDropped {
            class: EventClass::Parks,
            count: 17,
        },
    );
    records
}

/// The recording as a file.
pub(crate) fn file() -> Vec<u8> {
    let writer =
        Writer::new(Vec::new(), FixedSymbols::new()).carrier_threads([(0, 4242), (1, 4243)]);
    let mut chunk = writer.chunk(Span::new(WALL, START, 1_000 * MS));
    for record in records() {
        chunk.push(&record);
    }
    let written = chunk.finish(true).and_then(Writer::finish);
    written.expect("a vector takes every byte")
}
