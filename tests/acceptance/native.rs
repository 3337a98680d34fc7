//! Declared foreign calls, as the acceptance cases state them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use vt_runtime::event::{CarrierState, Event, Operation, PinReason, Pinned};
use vt_runtime::sync::ReentrantLock;
use vt_runtime::thread;
use vt_tests::{BACKENDS, Deadline, Gate, T, foreign, runtime};

/// The states of all `NativeCall` records with that label.
fn states(events: &[Event], label: &str) -> Vec<CarrierState> {
    let state = |event: &Event| match event {
        Event::NativeCall { native, state, .. } if &**native == label => Some(*state),
        _ => None,
    };
    events.iter().filter_map(state).collect()
}

/// OS threads that take all the processor time they get, until this is dropped.
struct Hogs(Arc<AtomicBool>);

impl Hogs {
    fn new(count: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        for _ in 0..count {
            let stop = Arc::clone(&stop);
            let hog = move || while !stop.load(Ordering::Relaxed) {};
            std::thread::Builder::new().spawn(hog).expect("a thread");
        }
        Self(stop)
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn oc_10_a_native_call_is_told_blocked_or_computing() {
    let _deadline = Deadline::standard();
    for (stacks, hogs) in BACKENDS.into_iter().zip([0, 4]) {
        let _hogs = Hogs::new(hogs);
        let (builder, capture) = vt_tests::builder(stacks, 2);
        let runtime = builder
            .pin_threshold(Duration::from_millis(20))
            .build()
            .expect("carriers start");
        let handles: Vec<_> = (0..10)
            .flat_map(|_| {
                [
                    runtime.spawn(|| foreign::block(80)),
                    runtime.spawn(|| foreign::spin(80)),
                ]
            })
            .collect();
        handles
            .into_iter()
            .for_each(|handle| handle.join().expect("no panic"));
        let events = capture.events(&runtime);
        let (blocked, spun) = (states(&events, "c_block"), states(&events, "c_spin"));
        assert_eq!((blocked.len(), spun.len()), (10, 10));
        let wrong = blocked
            .iter()
            .filter(|&&state| state != CarrierState::Blocked)
            .count();
        assert!(wrong <= 1, "{blocked:?}");
        assert!(!spun.contains(&CarrierState::Unknown), "{spun:?}");
        assert!(
            spun.iter()
                .filter(|&&state| state == CarrierState::Blocked)
                .count()
                <= 1,
            "{spun:?}"
        );
        let pins = capture.pinned(&runtime);
        let native = |pin: &&Pinned| {
            pin.operation == Operation::NativeCall && pin.reason == PinReason::Native
        };
        let count = pins
            .iter()
            .filter(native)
            .filter(|pin| pin.native.as_deref() == Some("c_block"))
            .count();
        assert!(
            count >= 9,
            "calls that block in C are pins as well: {pins:?}"
        );
    }
}

#[test]
fn oc_11_an_up_call_that_waits_is_pinned() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 1);
        let (turns, stop) = (Arc::new(AtomicUsize::new(0)), Gate::new());
        let caller = {
            let (turns, stop) = (Arc::clone(&turns), stop.clone());
            runtime.spawn(move || {
                let before = turns.load(Ordering::SeqCst);
                foreign::call_back(|| thread::sleep(T));
                let during = turns.load(Ordering::SeqCst) - before;
                let lock = ReentrantLock::new(());
                foreign::call_back(|| drop(lock.lock()));
                let before = turns.load(Ordering::SeqCst);
                thread::sleep(T);
                stop.open();
                (during, turns.load(Ordering::SeqCst) - before)
            })
        };
        let counter = runtime.spawn(move || stop.count_turns(&turns));
        let (during, after) = caller.join().expect("no panic");
        counter.join().expect("no panic");
        assert_eq!(during, 0);
        assert!(after >= 1);
        let events = capture.pinned(&runtime);
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(
            (events[0].reason, events[0].operation),
            (PinReason::Native, Operation::Sleep)
        );
        assert_eq!(events[0].native.as_deref(), Some("c_call_back"));
        assert_eq!(
            &*events[0].pinned_at.as_ref().expect("known").file,
            "tests/support/foreign.rs"
        );
        let walls = capture
            .events(&runtime)
            .into_iter()
            .filter_map(|event| match event {
                Event::NativeCall { native, wall, .. } if &*native == "c_call_back" => Some(wall),
                _ => None,
            });
        assert!(walls.max().is_some_and(|wall| wall >= T.mul_f64(0.95)));
    }
}

#[test]
fn a_native_call_that_is_offloaded_does_not_pin() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 1);
        let (turns, stop) = (Arc::new(AtomicUsize::new(0)), Gate::new());
        let caller = {
            let (turns, stop) = (Arc::clone(&turns), stop.clone());
            runtime.spawn(move || {
                let before = turns.load(Ordering::SeqCst);
                vt_runtime::blocking(|| foreign::block(80));
                stop.open();
                turns.load(Ordering::SeqCst) - before
            })
        };
        let counter = runtime.spawn(move || stop.count_turns(&turns));
        assert!(
            caller.join().expect("no panic") >= 1,
            "the carrier was free"
        );
        counter.join().expect("no panic");
        assert_eq!(capture.pinned(&runtime), []);
    }
}
