//! From a hub to subscribers and readers: nothing lost uncounted, nothing waits for a subscriber.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use parking_lot::Mutex;

use super::super::capture::{Capture, KillTimer, one_of_each, raw_pin};
use super::super::{CarrierState, DEFAULT_PIN_THRESHOLD, Recorded};
use super::*;

/// Far longer than any flush takes; a test that needs it fails.
const LONG: Duration = Duration::from_secs(30);

fn hub(capacity: usize, capture: &Capture) -> Arc<Hub> {
    Hub::new(2, capacity, DEFAULT_PIN_THRESHOLD, Some(capture.dispatch()))
}

/// Ids of the threads whose pins were received, in order.
fn pinned_ids(events: &[Event]) -> Vec<u64> {
    let id = |event: &Event| match event {
        Event::VirtualThreadPinned(pinned) => Some(pinned.thread.id),
        _ => None,
    };
    events.iter().filter_map(id).collect()
}

fn drain(reader: &mut Reader) -> Vec<Recorded> {
    let mut all = Vec::new();
    reader.drain(|recorded| all.push(recorded));
    all
}

#[test]
fn what_is_recorded_before_a_flush_is_received_after_it() {
    let _timer = KillTimer::start();
    let capture = Capture::default();
    let hub = hub(64, &capture);
    for round in 1..=50 {
        hub.pinned(0, &raw_pin(round, None, &[1, 2, 3]));
        assert!(hub.flush(LONG));
        assert_eq!(
            pinned_ids(&capture.events()),
            (1..=round).collect::<Vec<_>>()
        );
    }
}

#[test]
fn an_idle_service_is_woken_without_a_flush() {
    let _timer = KillTimer::start();
    let (sender, received) = channel();
    let capture =
        Capture::acting(move |event| sender.send(event.clone()).expect("the test listens"));
    let hub = hub(64, &capture);
    for id in 0..200 {
        hub.pinned(0, &raw_pin(id, None, &[]));
        let Ok(Event::VirtualThreadPinned(pinned)) = received.recv_timeout(LONG) else {
            panic!("pin {id} did not arrive");
        };
        assert_eq!(pinned.thread.id, id);
        // From awake, lingering and asleep alike.
        if id % 3 == 0 {
            while !hub.service.is_asleep() {
                thread::yield_now();
            }
        }
    }
}

#[test]
fn events_of_several_carriers_come_in_the_order_of_time() {
    let _timer = KillTimer::start();
    let (enter, entered) = sync_channel(0);
    let (leave, left) = channel::<()>();
    let left = Mutex::new(left);
    let capture = Capture::acting(move |event| {
        if matches!(event, Event::CarrierCompensated(_)) {
            enter.send(()).expect("the test listens");
            left.lock().recv().expect("the test lets go");
        }
    });
    let hub = hub(64, &capture);
    // While the subscriber is busy, two carriers record in turn.
    hub.report(compensated());
    entered.recv().expect("the subscriber is called");
    for id in 0..40 {
        let raw = RawPinned {
            end: Timestamp(30_000_000 + id),
            ..raw_pin(id, None, &[])
        };
        hub.pinned(id as usize % 2, &raw);
    }
    leave.send(()).expect("the subscriber waits");
    assert!(hub.flush(LONG));
    assert_eq!(pinned_ids(&capture.events()), (0..40).collect::<Vec<_>>());
}

fn compensated() -> Event {
    let compensation = super::super::Compensation {
        reason: "native".into(),
        live: 1,
        max: 2,
        cause: "".into(),
    };
    Event::CarrierCompensated(compensation)
}

#[test]
fn received_and_dropped_add_up_to_the_truth() {
    const PINS: u64 = 50_000;
    let _timer = KillTimer::start();
    let capture = Capture::default();
    let hub = hub(16, &capture);
    thread::scope(|scope| {
        for carrier in 0..2 {
            let hub = &hub;
            scope.spawn(move || {
                (0..PINS).for_each(|id| hub.pinned(carrier, &raw_pin(id, None, &[7; 20])))
            });
        }
    });
    assert!(hub.flush(LONG));
    let (seen, dropped) = capture.pins();
    assert_eq!(seen + dropped, 2 * PINS);
    assert_eq!(hub.delivery().dropped[EventClass::Pins as usize], dropped);
    assert!(seen >= 2, "the newest of each carrier are there");
}

#[test]
fn a_flood_of_parks_evicts_no_pin() {
    let _timer = KillTimer::start();
    let hub = Hub::new(1, 16, DEFAULT_PIN_THRESHOLD, None);
    let mut reader = hub.reader();
    hub.pinned(0, &raw_pin(1, None, &[]));
    let native = RawNative {
        thread: 1,
        name: None,
        native: "read",
        end: Timestamp(1),
        wall_ns: 1,
        state: CarrierState::Blocked,
    };
    hub.native_call(0, &native);
    hub.lifetime(0, Lifetime::Start, 1, Some("first"), false);
    for thread in 0..10_000 {
        hub.parked(0, thread, None, Operation::Sleep, Timestamp(thread), 1);
    }
    let all = drain(&mut reader);
    let parks = all
        .iter()
        .filter(|r| r.event.class() == EventClass::Parks)
        .count() as u64;
    assert_eq!(parks + reader.lost_in(EventClass::Parks), 10_000);
    assert!(reader.lost_in(EventClass::Parks) > 0);
    for class in [
        EventClass::Pins,
        EventClass::Contention,
        EventClass::Lifetimes,
    ] {
        assert_eq!(reader.lost_in(class), 0);
        assert_eq!(all.iter().filter(|r| r.event.class() == class).count(), 1);
    }
}

#[test]
fn parks_and_lifetimes_are_recorded_only_for_those_who_ask() {
    let _timer = KillTimer::start();
    let quiet = Capture::default();
    let hub = hub(16, &quiet);
    let record = || {
        hub.lifetime(0, Lifetime::Start, 1, None, false);
        hub.parked(0, 1, None, Operation::Sleep, Timestamp(2), 1);
        hub.report(Event::VirtualThreadEnd {
            thread: Default::default(),
            carrier: 0,
        });
    };
    record();
    let mut reader = hub.reader();
    record();
    let names: Vec<_> = drain(&mut reader).iter().map(|r| r.event.name()).collect();
    // Tests share the process: another one's subscriber may ask for TRACE at the same time.
    assert!(
        names.ends_with(&[
            "VirtualThreadUnpark",
            "VirtualThreadStart",
            "VirtualThreadEnd"
        ]),
        "{names:?}"
    );
    assert!(hub.wants_park(0));
    assert!(hub.flush(LONG));
    assert_eq!(quiet.events(), []);
}

#[test]
fn a_subscriber_that_asks_for_traces_gets_them() {
    let _timer = KillTimer::start();
    let capture = Capture::with_traces();
    let hub = hub(16, &capture);
    hub.lifetime(0, Lifetime::Start, 1, Some("a"), false);
    hub.parking(0, 1, Some("a"), Operation::Sleep, Timestamp(u64::MAX - 2));
    hub.parked(
        0,
        1,
        Some("a"),
        Operation::Sleep,
        Timestamp(u64::MAX - 1),
        1,
    );
    assert!(hub.flush(LONG));
    let names: Vec<_> = capture.events().iter().map(Event::name).collect();
    assert_eq!(
        names,
        [
            "VirtualThreadStart",
            "VirtualThreadPark",
            "VirtualThreadUnpark"
        ]
    );
}

#[test]
fn a_panic_in_a_subscriber_costs_one_event() {
    let _timer = KillTimer::start();
    let calls = AtomicUsize::new(0);
    let capture = Capture::acting(move |_| {
        if calls.fetch_add(1, Ordering::Relaxed) == 2 {
            std::panic::panic_any(Bomb);
        }
    });
    let hub = hub(16, &capture);
    for id in 0..5 {
        hub.pinned(0, &raw_pin(id, None, &[]));
    }
    assert!(hub.flush(LONG));
    assert_eq!(pinned_ids(&capture.events()), [0, 1, 3, 4]);
    let Delivery {
        emitted,
        dropped,
        subscriber_panics,
    } = hub.delivery();
    assert_eq!(
        (emitted, dropped, subscriber_panics),
        (5, [0; EventClass::COUNT], 1)
    );
}

/// A panic payload that panics again when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("and once more");
    }
}

#[test]
fn a_blocked_subscriber_delays_events_and_nothing_else() {
    let _timer = KillTimer::start();
    let (leave, left) = channel::<()>();
    let left = Mutex::new(left);
    let blocked = AtomicBool::new(true);
    let capture = Capture::acting(move |_| {
        if blocked.swap(false, Ordering::Relaxed) {
            left.lock().recv().expect("the test lets go");
        }
    });
    let hub = hub(16, &capture);
    for id in 0..1_000 {
        hub.pinned(0, &raw_pin(id, None, &[]));
    }
    assert!(!hub.flush(Duration::from_millis(1)));
    leave.send(()).expect("the subscriber waits");
    assert!(hub.flush(LONG));
    let (seen, dropped) = capture.pins();
    assert_eq!(seen + dropped, 1_000);
}

#[test]
fn a_flush_inside_a_subscriber_is_refused() {
    let _timer = KillTimer::start();
    let own: Arc<Mutex<Option<Arc<Hub>>>> = Arc::default();
    let answers: Arc<Mutex<Vec<bool>>> = Arc::default();
    let (hub_inside, answers_inside) = (Arc::clone(&own), Arc::clone(&answers));
    let capture = Capture::acting(move |_| {
        let hub = hub_inside.lock().clone();
        answers_inside.lock().extend(hub.map(|hub| hub.flush(LONG)));
    });
    let hub = hub(16, &capture);
    *own.lock() = Some(Arc::clone(&hub));
    hub.pinned(0, &raw_pin(1, None, &[]));
    assert!(hub.flush(LONG));
    *own.lock() = None;
    assert_eq!(*answers.lock(), [false]);
}

#[test]
fn a_dropped_hub_emits_what_it_has_and_lets_its_thread_go() {
    let _timer = KillTimer::start();
    let capture = Capture::default();
    let hub = hub(64, &capture);
    (0..40).for_each(|id| hub.pinned(0, &raw_pin(id, None, &[])));
    let service = Arc::downgrade(&hub.service);
    drop(hub);
    while service.strong_count() > 0 {
        thread::yield_now();
    }
    assert_eq!(pinned_ids(&capture.events()).len(), 40);
}

#[test]
fn what_no_reader_wants_is_not_recorded() {
    let _timer = KillTimer::start();
    let hub = Hub::new(1, 16, Duration::ZERO, None);
    let wants = |class| hub.store.has_readers(class);
    let mut reader = hub.reader();
    reader.want(&[EventClass::Pins]);
    assert!(wants(EventClass::Pins) && !wants(EventClass::Parks) && !wants(EventClass::Lifetimes));
    hub.lifetime(0, Lifetime::Start, 1, None, false);
    hub.pinned(0, &raw_pin(1, None, &[]));
    let names =
        |reader: &mut Reader| -> Vec<_> { drain(reader).iter().map(|r| r.event.name()).collect() };
    assert_eq!(names(&mut reader), ["VirtualThreadPinned"]);
    reader.want(EventClass::ALL);
    hub.lifetime(0, Lifetime::End, 1, None, false);
    assert_eq!(names(&mut reader), ["VirtualThreadEnd"]);
    drop(reader);
    assert!(!EventClass::ALL.iter().any(|class| wants(*class)));
}

#[test]
fn readers_have_cursors_of_their_own() {
    let _timer = KillTimer::start();
    let capture = Capture::default();
    let hub = hub(64, &capture);
    hub.pinned(0, &raw_pin(1, None, &[]));
    hub.report(compensated());
    let (mut one, mut other) = (hub.reader(), hub.reader());
    hub.pinned(1, &raw_pin(2, Some("named"), &[5, 6]));
    assert_eq!(drain(&mut one).len(), 3);
    assert_eq!(drain(&mut one), []);
    hub.pinned(1, &raw_pin(3, None, &[]));
    assert_eq!(drain(&mut one).len(), 1);
    let all = drain(&mut other);
    assert_eq!(
        pinned_ids(&all.iter().map(|r| r.event.clone()).collect::<Vec<_>>()),
        [1, 2, 3]
    );
    assert_eq!(
        all[1].event,
        Event::VirtualThreadPinned(raw_pin(2, Some("named"), &[5, 6]).to_pinned(1, None))
    );
    assert_eq!((one.lost(), other.lost()), ([0; 4], [0; 4]));
}

#[test]
fn every_event_can_be_reported_from_off_the_carriers() {
    let _timer = KillTimer::start();
    let hub = Hub::new(0, 64, DEFAULT_PIN_THRESHOLD, None);
    let mut reader = hub.reader();
    let before = clock::now();
    one_of_each()
        .into_iter()
        .for_each(|event| hub.report(event));
    let mut sent = one_of_each();
    // A reader takes class by class.
    sent.sort_by_key(Event::class);
    let all = drain(&mut reader);
    assert!(
        all.iter()
            .all(|recorded| recorded.at >= before && recorded.at <= clock::now())
    );
    assert_eq!(
        all.into_iter()
            .map(|recorded| recorded.event)
            .collect::<Vec<_>>(),
        sent
    );
}

#[test]
fn texts_name_threads_where_the_hub_can() {
    let _timer = KillTimer::start();
    let capture = Capture::default();
    let hub = hub(16, &capture);
    hub.name_threads(Box::new(|id| (id == 9).then(|| Arc::from("holder"))));
    hub.pinned(0, &raw_pin(1, None, &[]));
    assert!(hub.flush(LONG));
    let [Event::VirtualThreadPinned(pinned)] = &capture.events()[..] else {
        panic!("one pin")
    };
    assert_eq!(pinned.waits_owner.as_deref(), Some("#9 holder"));
}

#[test]
fn the_threshold_can_change() {
    let hub = Hub::new(1, 16, DEFAULT_PIN_THRESHOLD, None);
    assert_eq!(hub.threshold_ns(), 20_000_000);
    hub.set_threshold(Duration::ZERO);
    assert_eq!(hub.threshold_ns(), 0);
}

#[test]
fn a_reader_that_sleeps_is_called_when_a_ring_fills() {
    let _timer = KillTimer::start();
    let hub = Hub::new(1, 16, DEFAULT_PIN_THRESHOLD, None);
    let mut reader = hub.reader();
    let (ready, is_ready) = channel();
    let sleeper = thread::Builder::new().spawn(move || {
        reader.unpark_when_half_full(thread::current());
        ready.send(()).expect("the test listens");
        loop {
            thread::park();
            let seen = drain(&mut reader).len();
            if seen > 0 {
                return seen;
            }
        }
    });
    let sleeper = sleeper.expect("a thread");
    is_ready.recv().expect("the reader runs");
    while !sleeper.is_finished() {
        hub.parked(0, 1, None, Operation::Sleep, Timestamp(1), 1);
        thread::yield_now();
    }
    assert!(sleeper.join().is_ok_and(|seen| seen > 0));
}
