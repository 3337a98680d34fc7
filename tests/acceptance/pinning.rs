//! Pins of every kind, as the acceptance cases state them: exactly one event for each pinned wait, none without.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::event::{self, Event, Operation, PinReason, PinSource, Pinned, WaitOutcome};
use vt_runtime::sync::{Monitor, ReentrantLock};
use vt_runtime::{pinned, thread};
use vt_tests::{BACKENDS, Deadline, Gate, T, line_of, runtime};

fn in_units(duration: Duration) -> f64 {
    duration.as_secs_f64() / T.as_secs_f64()
}

#[test]
fn oc_01_a_pinned_sleep_serialises_and_says_so_exactly() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 2);
        let idle: Vec<_> = (0..8)
            .map(|_| {
                runtime.spawn(|| {
                    let monitor = Monitor::new(0);
                    (0..10_000).for_each(|_| drop(monitor.enter()));
                })
            })
            .collect();
        idle.into_iter()
            .for_each(|handle| handle.join().expect("no panic"));
        assert_eq!(capture.pinned(&runtime), []);

        let start = Instant::now();
        let lines = (line!() + 5, line!() + 6);
        let sleepers: Vec<_> = (0..8)
            .map(|_| {
                runtime.spawn(|| {
                    let monitor = Monitor::new(0);
                    let guard = monitor.enter();
                    thread::sleep(T);
                    drop(guard);
                })
            })
            .collect();
        sleepers
            .into_iter()
            .for_each(|handle| handle.join().expect("no panic"));
        let wall = in_units(start.elapsed());
        assert!(
            (3.9..20.0).contains(&wall),
            "eight sleeps on two carriers took {wall} T"
        );

        let events = capture.pinned(&runtime);
        assert_eq!(events.len(), 8, "{events:?}");
        for event in &events {
            assert_eq!(
                (event.reason, event.operation),
                (PinReason::Monitor, Operation::Sleep)
            );
            assert_eq!((event.depth, event.outcome), (1, WaitOutcome::Done));
            assert!((0.95..8.0).contains(&in_units(event.duration)), "{event:?}");
            assert_eq!(
                (
                    line_of(event.pinned_at.as_ref()),
                    line_of(event.blocked_at.as_ref())
                ),
                lines
            );
            let file = &event.blocked_at.as_ref().expect("known").file;
            assert_eq!(&**file, "tests/acceptance/pinning.rs");
        }
        let distinct = |key: fn(&Pinned) -> u64| {
            events
                .iter()
                .map(key)
                .collect::<std::collections::BTreeSet<_>>()
                .len()
        };
        assert_eq!(distinct(|event| event.thread.id), 8);
        assert_eq!(distinct(|event| event.carrier), 2);
    }
}

#[test]
fn oc_02_a_park_aware_lock_does_not_pin() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 2);
        let start = Instant::now();
        let handles: Vec<_> = (0..200)
            .map(|_| {
                runtime.spawn(|| {
                    let lock = ReentrantLock::new(0);
                    let guard = lock.lock();
                    thread::sleep(T);
                    drop(guard);
                })
            })
            .collect();
        handles
            .into_iter()
            .for_each(|handle| handle.join().expect("no panic"));
        let wall = in_units(start.elapsed());
        assert!(
            (0.98..20.0).contains(&wall),
            "two hundred sleepers took {wall} T"
        );

        let start = Instant::now();
        let shared = Arc::new(ReentrantLock::new(Cell::new(0)));
        let handles: Vec<_> = (0..50)
            .map(|_| {
                let shared = Arc::clone(&shared);
                runtime.spawn(move || {
                    let counter = shared.lock();
                    let before = counter.get();
                    thread::sleep(T / 50);
                    counter.set(before + 1);
                })
            })
            .collect();
        handles
            .into_iter()
            .for_each(|handle| handle.join().expect("no panic"));
        let wall = in_units(start.elapsed());
        assert!(
            (0.98..20.0).contains(&wall),
            "fifty holders in turn took {wall} T"
        );
        assert_eq!(shared.lock().get(), 50);
        assert_eq!(capture.pinned(&runtime), []);
    }
}

#[test]
fn oc_04_nested_and_recursive_pins_keep_balance() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 1);
        let monitors = Arc::new((Monitor::new(1), Monitor::new(2)));
        let (turns, stop) = (Arc::new(AtomicUsize::new(0)), Gate::new());
        let first_enter = line!() + 6;
        let holder = {
            let (monitors, turns, stop) = (Arc::clone(&monitors), Arc::clone(&turns), stop.clone());
            runtime.spawn(move || {
                let (m1, m2) = &*monitors;
                assert!(!pinned::is_pinned());
                let outer = m1.enter();
                let second = m2.enter();
                let third = m1.enter();
                let fourth = m1.enter();
                let before = turns.load(Ordering::SeqCst);
                thread::sleep(T);
                let during_pin = turns.load(Ordering::SeqCst) - before;
                drop(second);
                drop(outer);
                drop(third);
                assert!(pinned::is_pinned());
                drop(fourth);
                assert!(!pinned::is_pinned());
                let before = turns.load(Ordering::SeqCst);
                thread::sleep(T);
                let after_pin = turns.load(Ordering::SeqCst) - before;
                stop.open();
                (during_pin, after_pin)
            })
        };
        let counter = runtime.spawn(move || stop.count_turns(&turns));
        let (during_pin, after_pin) = holder.join().expect("no panic");
        counter.join().expect("no panic");
        assert_eq!(during_pin, 0);
        assert!(after_pin >= 1);
        let events = capture.pinned(&runtime);
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0].depth, 4);
        assert_eq!(line_of(events[0].pinned_at.as_ref()), first_enter);
        assert!(monitors.0.try_enter().is_some() && monitors.1.try_enter().is_some());
    }
}

#[test]
fn oc_05_a_panic_leaves_its_monitors() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 1);
        let monitors = Arc::new((Monitor::new(1), Monitor::new(2)));
        for round in 0..1000 {
            let monitors = Arc::clone(&monitors);
            let failed = runtime.spawn(move || {
                let _first = monitors.0.enter();
                let _second = monitors.1.enter();
                std::panic::resume_unwind(Box::new(round));
            });
            let payload = failed.join().expect_err("it panicked");
            assert_eq!(payload.downcast_ref(), Some(&round));
        }
        let (turns, stop) = (Arc::new(AtomicUsize::new(0)), Gate::new());
        let last = {
            let (turns, stop) = (Arc::clone(&turns), stop.clone());
            runtime.spawn(move || {
                drop(monitors.0.enter());
                drop(monitors.1.enter());
                let before = turns.load(Ordering::SeqCst);
                thread::sleep(T);
                stop.open();
                turns.load(Ordering::SeqCst) - before
            })
        };
        let counter = runtime.spawn(move || stop.count_turns(&turns));
        assert!(last.join().expect("no panic") >= 1, "it stayed pinned");
        counter.join().expect("no panic");
        assert_eq!(capture.pinned(&runtime), []);
    }
}

#[test]
fn oc_09_a_monitor_wait_gives_the_carrier_back() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 1);
        let monitor = Arc::new(Monitor::new(Cell::new(false)));
        let waiter = {
            let monitor = Arc::clone(&monitor);
            runtime.spawn(move || {
                let (first, second, mut third) =
                    (monitor.enter(), monitor.enter(), monitor.enter());
                while !third.get() {
                    monitor.wait(&mut third).expect("nobody interrupts");
                }
                let taken_elsewhere = || {
                    std::thread::scope(|s| {
                        let other = s.spawn(|| monitor.try_enter().is_some());
                        other.join().expect("no panic")
                    })
                };
                let mut free = vec![taken_elsewhere()];
                drop(first);
                free.push(taken_elsewhere());
                drop(second);
                free.push(taken_elsewhere());
                drop(third);
                free.push(taken_elsewhere());
                free
            })
        };
        let notifier = {
            let monitor = Arc::clone(&monitor);
            runtime.spawn(move || {
                let guard = monitor.enter();
                guard.set(true);
                thread::sleep(T);
                monitor.notify_one();
            })
        };
        assert_eq!(
            waiter.join().expect("no panic"),
            [false, false, false, true]
        );
        notifier.join().expect("no panic");
        let mut events = capture.pinned(&runtime);
        // On a busy machine the OS threads above take long, and blocking for them is seen.
        events.retain(|event| event.source != PinSource::Sampled);
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0].operation, Operation::Sleep);
    }
}

#[test]
fn oc_09_a_monitor_wait_under_another_monitor_is_one_event() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 1);
        let monitor = Arc::new(Monitor::new(Cell::new(false)));
        let waits = Gate::new();
        let waiter = {
            let (monitor, waits) = (Arc::clone(&monitor), waits.clone());
            runtime.spawn(move || {
                let other = Monitor::new(());
                let _outer = other.enter();
                let mut guard = monitor.enter();
                waits.open();
                while !guard.get() {
                    monitor.wait(&mut guard).expect("nobody interrupts");
                }
            })
        };
        waits.pass();
        // From here on `enter` succeeds only once the waiter has given the monitor up.
        let guard = monitor.enter();
        // Its carrier may come late to the wait itself, from which the duration counts.
        while runtime
            .threads()
            .iter()
            .all(|thread| thread.pinned_for.is_none())
        {
            std::thread::yield_now();
        }
        guard.set(true);
        monitor.notify_one();
        thread::sleep(T);
        drop(guard);
        waiter.join().expect("no panic");
        let events = capture.pinned(&runtime);
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(
            (events[0].operation, events[0].reason),
            (Operation::MonitorWait, PinReason::Monitor)
        );
        // To the end of the re-entry.
        let duration = in_units(events[0].duration);
        assert!(duration >= 0.95, "{duration} T");
    }
}

#[test]
fn a_service_that_is_a_thread_pool_again_is_told_so() {
    let _deadline = Deadline::standard();
    let (builder, capture) = vt_tests::builder(BACKENDS[0], 1);
    // Each pin is far below the threshold: only their sum is telling.
    let runtime = builder
        .pin_threshold(10 * T)
        .build()
        .expect("carriers start");
    let start = Instant::now();
    let is_told = || {
        let events = capture.so_far().into_iter();
        let mut told = events.filter_map(|event| match event {
            Event::CarrierMostlyPinned(facts) => Some(facts),
            _ => None,
        });
        told.next()
    };
    let line = line!() + 3;
    let facts = loop {
        runtime.run(|| {
            pinned::critical("payment", || thread::sleep(T / 4));
            pinned::critical("audit", || thread::sleep(T / 100));
        });
        if let Some(facts) = is_told() {
            break facts;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "not told");
    };
    assert_eq!(facts.carrier, 0);
    assert!(facts.pinned > facts.window / 2, "{facts:?}");
    assert_eq!(line_of(facts.pinned_at.as_ref()), line);
    assert_eq!(line_of(facts.blocked_at.as_ref()), line);
    assert_eq!(capture.pinned(&runtime), []);

    let metrics = runtime.metrics();
    let carrier = metrics.carrier_pins[0];
    assert!(
        carrier.pinned <= carrier.alive && carrier.share() > 0.3,
        "{carrier:?}"
    );
    let [first, second] = &metrics.pinned_sites[..] else {
        panic!("two sites: {:?}", metrics.pinned_sites)
    };
    assert_eq!(line_of(first.pinned_at.as_ref()), line);
    assert_eq!(line_of(second.blocked_at.as_ref()), line + 1);
    assert_eq!(first.count, second.count);
    assert!(first.total >= T / 4 * u32::try_from(first.count).expect("few"));
    assert!(first.share > second.share && first.share <= carrier.share() * 1.01);
}

#[test]
fn the_depth_of_stacks_can_be_set() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let deep = |depth: usize| {
            let (builder, capture) = vt_tests::builder(stacks, 1);
            let runtime = builder.stack_depth(depth).build().expect("carriers start");
            runtime.run(|| pinned::critical("shallow", || recurse(200)));
            capture.pinned(&runtime)[0].stack.len()
        };
        assert_eq!([deep(0), deep(5), deep(64), deep(1000)], [0, 5, 64, 128]);
    }
}

/// Sleeps below that many frames.
#[inline(never)]
fn recurse(frames: u32) -> u32 {
    if frames == 0 {
        thread::sleep(T / 100);
        return 0;
    }
    std::hint::black_box(recurse(frames - 1)) + 1
}

#[test]
fn what_lasts_is_reported_with_its_stack() {
    let _deadline = Deadline::standard();
    let (runtime, capture) = runtime(BACKENDS[0], 1);
    let monitor_line = line!() + 3;
    let lasting = runtime.spawn(|| {
        let monitor = Monitor::named("ledger", ());
        let guard = monitor.enter();
        thread::sleep(6 * T);
        drop(guard);
    });
    lasting.join().expect("no panic");
    let live = capture
        .events(&runtime)
        .into_iter()
        .find_map(|event| match event {
            Event::VirtualThreadPinnedLive(pin) => Some(pin),
            _ => None,
        });
    let pin = live.expect("reported while it lasted");
    assert_eq!(line_of(pin.pinned_at.as_ref()), monitor_line);
    assert_eq!(line_of(pin.blocked_at.as_ref()), monitor_line + 1);
    let frames = event::symbolize(&pin.stack);
    // With frame pointers, which this repository builds with.
    let first = frames.first().expect("a stack");
    assert!(first.is_application, "{frames:?}");
    assert_eq!(
        line_of(first.place.as_ref()),
        monitor_line + 1,
        "{frames:?}"
    );
}
