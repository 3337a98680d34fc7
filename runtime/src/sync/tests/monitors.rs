//! `Monitor`: what it pins, when it gives its carrier back, and what is reported.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Stage, T, os_thread};
use crate::event::{Event, Operation, PinReason, WaitOutcome};
use crate::sync::{Monitor, ReentrantLock, Semaphore};
use crate::thread::{self, ThreadState};
use crate::{DeadlockPolicy, Stacks};

/// Counts its turns until it is told to stop.
fn turner(
    stage: &Stage,
    turns: &Arc<AtomicUsize>,
    stop: &Arc<AtomicUsize>,
) -> thread::JoinHandle<()> {
    let (turns, stop) = (Arc::clone(turns), Arc::clone(stop));
    stage.spawn_on(0, move || {
        while stop.load(Ordering::SeqCst) == 0 {
            turns.fetch_add(1, Ordering::SeqCst);
            thread::yield_now();
        }
    })
}

#[test]
fn nested_and_recursive_pins_keep_balance() {
    Stage::on_both(1, |stage| {
        let (turns, stop) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let monitors = Arc::new((Monitor::named("m1", ()), Monitor::named("m2", ())));
        let (others, seen) = (Arc::clone(&monitors), Arc::clone(&turns));
        let entered_at = line!() + 2;
        let nested = stage.spawn_on(0, move || {
            let a = others.0.enter();
            let b = others.1.enter();
            let (c, d) = (others.0.enter(), others.0.enter());
            let before = seen.load(Ordering::SeqCst);
            thread::sleep(T);
            let pinned_turns = seen.load(Ordering::SeqCst) - before;
            drop(b);
            drop(a);
            assert!(crate::pinned::is_pinned());
            drop(c);
            assert!(crate::pinned::is_pinned());
            drop(d);
            assert!(!crate::pinned::is_pinned());
            thread::sleep(T);
            (pinned_turns, seen.load(Ordering::SeqCst) - before)
        });
        let turner = turner(stage, &turns, &stop);
        let (pinned, free) = nested.join().expect("no panic");
        stop.store(1, Ordering::SeqCst);
        turner.join().expect("no panic");
        assert_eq!(pinned, 0);
        assert!(free > 0);
        let pins = stage.pins();
        assert_eq!(pins.len(), 1);
        let pin = &pins[0];
        assert_eq!(
            (pin.reason, pin.operation),
            (PinReason::Monitor, Operation::Sleep)
        );
        assert_eq!((pin.depth, pin.outcome), (4, WaitOutcome::Done));
        assert_eq!(pin.lock.as_deref(), Some("m1"));
        assert_eq!(pin.pinned_at.as_ref().map(|at| at.line), Some(entered_at));
        let entered =
            os_thread(move || monitors.0.try_enter().is_some() && monitors.1.try_enter().is_some());
        assert!(entered.join().expect("no panic"));
    });
}

#[test]
fn a_panic_inside_gives_every_level_back() {
    Stage::on_both(1, |stage| {
        let monitors = Arc::new((Monitor::new(()), Monitor::new(())));
        for _ in 0..200 {
            let monitors = Arc::clone(&monitors);
            let failing = stage.runtime.spawn(move || {
                let _outer = monitors.0.enter();
                let _inner = monitors.1.enter();
                std::panic::resume_unwind(Box::new("on purpose"));
            });
            let payload = failing.join().expect_err("it panicked");
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
        }
        let (turns, stop) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let seen = Arc::clone(&turns);
        let after = stage.spawn_on(0, move || {
            drop((monitors.0.enter(), monitors.1.enter()));
            assert!(!crate::pinned::is_pinned());
            let before = seen.load(Ordering::SeqCst);
            thread::sleep(T / 2);
            seen.load(Ordering::SeqCst) - before
        });
        let turner = turner(stage, &turns, &stop);
        assert!(after.join().expect("no panic") > 0);
        stop.store(1, Ordering::SeqCst);
        turner.join().expect("no panic");
        assert_eq!(stage.pins(), []);
    });
}

#[test]
fn wait_gives_the_carrier_back() {
    Stage::on_both(1, |stage| {
        let monitor = Arc::new(Monitor::named("m", Cell::new(false)));
        let other = Arc::clone(&monitor);
        let waiter = stage.spawn_on(0, move || {
            let (first, second) = (other.enter(), other.enter());
            let mut third = other.enter();
            while !third.get() {
                other.wait(&mut third).expect("not interrupted");
            }
            assert_eq!(other.hold_count(), 3);
            assert!(crate::pinned::is_pinned());
            drop((third, first));
            assert!(crate::pinned::is_pinned());
            drop(second);
            assert!(!crate::pinned::is_pinned());
        });
        stage.until(waiter.thread(), ThreadState::Waiting);
        let other = Arc::clone(&monitor);
        let notifier = stage.spawn_on(0, move || {
            let guard = other.enter();
            guard.set(true);
            thread::sleep(T);
            other.notify_one();
        });
        notifier.join().expect("no panic");
        waiter.join().expect("no panic");
        let pins = stage.pins();
        assert_eq!(pins.len(), 1, "{pins:?}");
        assert_eq!(pins[0].operation, Operation::Sleep);
    });
}

#[test]
fn wait_under_another_monitor_is_one_pin_until_inside_again() {
    Stage::on_both(1, |stage| {
        let monitors = Arc::new((
            Monitor::named("m", Cell::new(false)),
            Monitor::named("n", ()),
        ));
        let others = Arc::clone(&monitors);
        let waiter = stage.spawn_on(0, move || {
            let mut inner = others.0.enter();
            let _outer = others.1.enter();
            while !inner.get() {
                others.0.wait(&mut inner).expect("not interrupted");
            }
        });
        stage.until(waiter.thread(), ThreadState::Pinned);
        let notifier = os_thread(move || {
            let guard = monitors.0.enter();
            guard.set(true);
            monitors.0.notify_one();
            thread::sleep(T);
        });
        notifier.join().expect("no panic");
        waiter.join().expect("no panic");
        let pins = stage.pins();
        assert_eq!(pins.len(), 1, "{pins:?}");
        let pin = &pins[0];
        assert_eq!(
            (pin.operation, pin.reason),
            (Operation::MonitorWait, PinReason::Monitor)
        );
        assert_eq!(pin.waits_for.as_deref(), Some("m"));
        assert!(pin.duration >= T * 95 / 100, "{:?}", pin.duration);
    });
}

#[test]
fn a_contended_enter_blocks_the_carrier_and_names_the_holder() {
    Stage::on_both(1, |stage| {
        let monitor = Arc::new(Monitor::named("m", ()));
        let guard = monitor.enter();
        let other = Arc::clone(&monitor);
        let enters = stage.spawn_on(0, move || drop(other.enter()));
        stage.until(enters.thread(), ThreadState::Pinned);
        drop(guard);
        enters.join().expect("no panic");
        let pins = stage.pins();
        assert_eq!(pins.len(), 1, "{pins:?}");
        assert_eq!(
            (pins[0].operation, pins[0].reason),
            (Operation::MonitorEnter, PinReason::Monitor)
        );
        assert_eq!(pins[0].waits_for.as_deref(), Some("m"));
    });
}

#[test]
fn monitors_exclude_virtual_and_os_threads() {
    Stage::on_both(2, |stage| {
        let monitor = Arc::new(Monitor::new(Cell::new(0)));
        let work = |monitor: Arc<Monitor<Cell<u32>>>| {
            move || {
                for _ in 0..500 {
                    let outer = monitor.enter();
                    let before = outer.get();
                    let inner = monitor.enter();
                    inner.set(before + 1);
                }
            }
        };
        let os: Vec<_> = (0..2)
            .map(|_| os_thread(work(Arc::clone(&monitor))))
            .collect();
        let on: Vec<_> = (0..8)
            .map(|_| stage.runtime.spawn(work(Arc::clone(&monitor))))
            .collect();
        super::all(on);
        os.into_iter().for_each(|os| os.join().expect("no panic"));
        assert_eq!(monitor.enter().get(), 5000);
    });
}

/// A thread has its notice and waits for its monitor again, pinned by another one. Who has the monitor waits for a lock
/// whose owner lives on the carrier that is kept so.
#[test]
fn a_monitor_that_is_entered_again_after_a_wait_can_close_a_cycle() {
    for stacks in [Stacks::Dense, Stacks::Generator] {
        let stage = Stage::with_policy(stacks, 2, DeadlockPolicy::Error);
        let monitor = Arc::new(Monitor::named("again", Cell::new(false)));
        let lock = Arc::new(ReentrantLock::named("far", ()));
        let gate = Arc::new(Semaphore::new(0));

        let (held, waits) = (Arc::clone(&lock), Arc::clone(&gate));
        let owner = stage.spawn_on(0, move || {
            let _guard = held.lock();
            waits.acquire().forget();
        });
        stage.until(owner.thread(), ThreadState::Waiting);
        let entered = Arc::clone(&monitor);
        let keeper = stage.spawn_on(0, move || {
            let pins = Monitor::new(());
            let _pinned = pins.enter();
            let mut guard = entered.enter();
            while !guard.get() {
                entered.wait(&mut guard).expect("not interrupted");
            }
        });
        stage.until(keeper.thread(), ThreadState::Pinned);
        gate.add_permits(1);
        let holder = stage.spawn_on(1, move || {
            let guard = monitor.enter();
            guard.set(true);
            monitor.notify_one();
            lock.lock_checked().is_err()
        });
        assert!(holder.join().expect("no panic"), "its wait is ended");
        super::all([owner, keeper]);
        stage.runtime.flush_events();
        let events = stage.seen.0.lock().clone();
        let cycle = events.iter().find_map(|event| match event {
            Event::PinnedDeadlock(deadlock) => Some(Arc::clone(&deadlock.cycle)),
            _ => None,
        });
        let cycle = cycle.expect("it is reported");
        assert!(
            cycle.contains("monitor_wait") && cycle.contains("far"),
            "{cycle}"
        );
    }
}

#[test]
fn a_thread_is_pinned_until_the_last_of_many_monitors_is_left_in_any_order() {
    Stage::on_both(1, |stage| {
        let thread = stage.spawn_on(0, || {
            let monitors: Vec<_> = (0..7).map(|_| Monitor::new(())).collect();
            for first in 0..monitors.len() {
                let mut guards: Vec<_> = monitors.iter().map(Monitor::enter).collect();
                guards.rotate_left(first);
                while !guards.is_empty() {
                    assert!(crate::pinned::is_pinned());
                    drop(guards.remove(0));
                }
                assert!(!crate::pinned::is_pinned());
            }
        });
        thread.join().expect("no panic");
    });
}
