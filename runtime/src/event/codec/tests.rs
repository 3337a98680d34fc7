//! Every kind of record comes back as the event that went in, and nonsense comes back as nothing.

use proptest::prelude::*;

use std::sync::Arc;
use std::time::Duration;

use super::intern::Cache;
use super::read::Decoder;
use super::text::ThreadNames;
use super::*;
use crate::event::capture::raw_pin;
use crate::event::raw::{Lifetime, RawNative, RawPinned, Subject};
use crate::event::store::ring::Cursor;
use crate::event::store::ring::Ring;
use crate::event::{CarrierState, Event, Operation, Recorded, ThreadRef, Timestamp};

/// The only record of a ring, decoded.
fn read_back(
    names: Option<&ThreadNames>,
    write: impl FnOnce(&Ring, &Cache) -> bool,
) -> Option<Recorded> {
    let (ring, cache) = (Ring::new(0), Cache::new());
    write(&ring, &cache);
    let (mut cursor, mut body, mut lost) = (Cursor::FROM_START, Vec::new(), 0);
    let header = ring.read(&mut cursor, ring.head(), &mut body, &mut lost)?;
    assert_eq!(lost, 0);
    Decoder::default().decode(3, header, &body, names)
}

fn expect(at: u64, event: Event) -> Option<Recorded> {
    Some(Recorded {
        at: Timestamp(at),
        event,
    })
}

fn thread(id: u64, name: &str) -> ThreadRef {
    ThreadRef {
        id,
        name: name.into(),
    }
}

#[test]
fn a_pin_comes_back_with_every_field() {
    let names = |id| (id == 9).then(|| Arc::from("holder"));
    let stack: Vec<u64> = (1..=33).map(|i| i << 20).collect();
    let raw = raw_pin(7, Some("worker"), &stack);
    let event = Event::VirtualThreadPinned(raw.to_pinned(3, Some(&names)));
    let Event::VirtualThreadPinned(pinned) = &event else {
        unreachable!()
    };
    assert_eq!(pinned.waits_owner.as_deref(), Some("#9 holder"));
    assert_eq!(
        pinned.waits_for.as_deref(),
        Some("ReentrantLock@0x7f123456")
    );
    assert_eq!(pinned.lock.as_deref(), Some("orders"));
    assert_eq!(pinned.duration, Duration::from_nanos(25_999_000));
    assert_eq!(pinned.stack, stack);
    assert_eq!(
        read_back(Some(&names), |ring, cache| write::pinned(ring, cache, &raw)),
        expect(26_000_000, event)
    );
}

#[test]
fn a_pin_without_the_optional_fields_comes_back() {
    let raw = RawPinned {
        name: None,
        pinned_at: None,
        blocked_at: None,
        lock: None,
        waits_for: Some(Subject {
            kind: Subject::THREAD,
            name: None,
            id: 12,
        }),
        waits_owner: 0,
        native: None,
        span: None,
        depth: 0,
        ..raw_pin(7, None, &[])
    };
    let event = Event::VirtualThreadPinned(raw.to_pinned(3, None));
    let Event::VirtualThreadPinned(pinned) = &event else {
        unreachable!()
    };
    assert_eq!(&*pinned.thread.name, "vt-6");
    assert_eq!(pinned.waits_for.as_deref(), Some("#12"));
    assert_eq!(pinned.span, None);
    assert_eq!(
        read_back(None, |ring, cache| write::pinned(ring, cache, &raw)),
        expect(26_000_000, event)
    );
}

#[test]
fn a_line_of_this_crate_is_not_blamed() {
    let pinned = raw_pin(7, None, &[]).to_pinned(3, None);
    assert_eq!(pinned.blocked_at, None);
    assert!(
        pinned
            .pinned_at
            .is_some_and(|place| place.file.ends_with("codec/tests.rs") || place.line > 0)
    );
}

#[test]
fn too_long_names_and_stacks_are_cut() {
    let (name, stack) = ("é".repeat(200), vec![1; 200]);
    let raw = raw_pin(7, Some(&name), &stack);
    let Some(Recorded {
        event: Event::VirtualThreadPinned(pinned),
        ..
    }) = read_back(None, |ring, cache| write::pinned(ring, cache, &raw))
    else {
        panic!("a pin");
    };
    assert_eq!(&*pinned.thread.name, "é".repeat(MAX_NAME / 2));
    assert_eq!(pinned.stack.len(), MAX_STACK);
}

#[test]
fn a_foreign_call_comes_back() {
    let raw = RawNative {
        thread: 7,
        name: Some("worker-with-a-name"),
        native: "sqlite3_step",
        end: Timestamp(40),
        wall_ns: 30,
        state: CarrierState::Computing,
    };
    let event = Event::NativeCall {
        thread: thread(7, "worker-with-a-name"),
        carrier: 3,
        native: "sqlite3_step".into(),
        wall: Duration::from_nanos(30),
        state: CarrierState::Computing,
    };
    assert_eq!(
        read_back(None, |ring, cache| write::native(ring, cache, &raw)),
        expect(40, event)
    );
}

#[test]
fn starts_ends_and_parks_come_back() {
    let at = Timestamp(5);
    assert_eq!(
        read_back(None, |ring, _| write::lifetime(
            ring,
            Lifetime::Start,
            at,
            7,
            None
        )),
        expect(
            5,
            Event::VirtualThreadStart {
                thread: thread(7, "vt-6"),
                carrier: 3
            }
        )
    );
    assert_eq!(
        read_back(None, |ring, _| write::lifetime(
            ring,
            Lifetime::End,
            at,
            7,
            Some("")
        )),
        expect(
            5,
            Event::VirtualThreadEnd {
                thread: thread(7, ""),
                carrier: 3
            }
        )
    );
    let operation = Operation::Future;
    assert_eq!(
        read_back(None, |ring, _| write::park(
            ring,
            at,
            7,
            Some("a"),
            operation,
            None
        )),
        expect(
            5,
            Event::VirtualThreadPark {
                thread: thread(7, "a"),
                operation
            }
        )
    );
    let parked = Duration::from_nanos(u64::MAX);
    assert_eq!(
        read_back(None, |ring, _| write::park(
            ring,
            at,
            7,
            Some("a"),
            operation,
            Some(u64::MAX)
        )),
        expect(
            5,
            Event::VirtualThreadUnpark {
                thread: thread(7, "a"),
                operation,
                parked
            }
        )
    );
}

proptest! {
    #[test]
    fn any_words_decode_without_a_panic(kind in 0u8..10, body in proptest::collection::vec(any::<u64>(), 0..120)) {
        let ring = Ring::new(0);
        let mut record = ring.begin(kind, body.len());
        body.iter().for_each(|&word| record.put(word));
        record.commit();
        let (mut cursor, mut copy, mut lost) = (Cursor::FROM_START, Vec::new(), 0);
        let header = ring.read(&mut cursor, ring.head(), &mut copy, &mut lost).expect("one record");
        prop_assert_eq!(&copy, &body);
        let _ = Decoder::default().decode(0, header, &copy, None);
    }
}
