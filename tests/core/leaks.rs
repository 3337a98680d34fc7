//! Guards that are forgotten: the monitor stays held and is told of, the carrier goes on as if nothing had been.

use std::sync::Arc;
use std::time::Duration;

use vt_runtime::event::Event;
use vt_runtime::sync::{Monitor, ReentrantLock};
use vt_runtime::thread::{self, Builder};
use vt_runtime::{Runtime, pinned};
use vt_tests::{BACKENDS, Capture, Deadline, T, line_of, runtime, until_it_waits};

/// Id and name of the thread, lock and line of each leak that was reported.
fn leaks(runtime: &Runtime, capture: &Capture) -> Vec<(u64, String, Option<String>, u32)> {
    let leaked = |event| match event {
        Event::MonitorLeaked {
            thread,
            lock,
            pinned_at,
        } => Some((
            thread.id,
            thread.name.to_string(),
            lock.map(|lock| lock.to_string()),
            line_of(pinned_at.as_ref()),
        )),
        _ => None,
    };
    let events = capture.events(runtime);
    events.into_iter().filter_map(leaked).collect()
}

#[test]
fn a_forgotten_guard_is_reported_at_the_end_and_pins_nobody_else() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 1);
        let monitor = Arc::new(Monitor::named("forgotten", 5));
        let held = Arc::clone(&monitor);
        let line = line!() + 2;
        let leaker = Builder::new().name("leaker").spawn_in(&runtime, move || {
            let guard = held.enter();
            std::mem::forget(guard);
            (thread::current_carrier(), pinned::is_pinned())
        });
        let leaker = leaker.expect("spawned");
        let id = leaker.thread().id();
        let (carrier, was_pinned) = leaker.join().expect("no panic");
        assert!(was_pinned, "until its end");
        let told = leaks(&runtime, &capture);
        assert_eq!(told.len(), 1, "{told:?}");
        let (thread, name, lock, at) = &told[0];
        assert_eq!(thread, &id.as_u64());
        assert_eq!((name.as_str(), *at), ("leaker", line));
        assert!(
            lock.as_ref().is_some_and(|lock| lock.contains("forgotten")),
            "{told:?}"
        );

        // The same carrier: free to unmount, and the monitor is not its own.
        let entered = Arc::clone(&monitor);
        let next = runtime.spawn(move || {
            let free = !pinned::is_pinned();
            thread::sleep(Duration::from_millis(1));
            let refused = entered.try_enter().is_none();
            (thread::current_carrier(), free, refused)
        });
        assert_eq!(next.join().expect("no panic"), (carrier, true, true));
        assert_eq!(capture.pinned(&runtime), [], "the sleep unmounted");

        assert!(monitor.try_enter().is_none(), "a plain OS thread neither");

        // Who enters it waits as for any other holder, which a shutdown ends.
        let wanted = Arc::clone(&monitor);
        let enters = runtime.spawn(move || drop(wanted.enter()));
        until_it_waits(&runtime, enters.thread());
        let report = runtime.shutdown(T);
        assert_eq!(report.cancelled.len(), 1, "{report:?}");
        assert!(report.is_complete(), "{report:?}");
        assert!(enters.join().is_err());
        assert_eq!(leaks(&runtime, &capture).len(), 1, "told once");
    }
}

#[test]
fn each_forgotten_monitor_is_told_and_a_forgotten_lock_is_none() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 1);
        let ended = runtime.spawn(|| {
            let (outer, inner, left) = (
                Monitor::named("outer", ()),
                Monitor::named("inner", ()),
                Monitor::named("left", ()),
            );
            std::mem::forget(outer.enter());
            drop(left.enter());
            std::mem::forget(inner.enter());
            let lock = ReentrantLock::new(());
            std::mem::forget(lock.lock());
        });
        ended.join().expect("no panic");
        let told = leaks(&runtime, &capture);
        let mut locks: Vec<_> = told.iter().filter_map(|leak| leak.2.as_deref()).collect();
        locks.sort_unstable();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            locks[0].contains("inner") && locks[1].contains("outer"),
            "{told:?}"
        );
    }
}

#[test]
fn a_monitor_held_by_a_thread_that_a_shutdown_abandons_is_told_too() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 1);
        let stubborn = runtime.spawn(|| {
            let monitor = Monitor::named("abandoned", ());
            let _guard = monitor.enter();
            loop {
                let _ = std::panic::catch_unwind(thread::park);
            }
        });
        until_it_waits(&runtime, stubborn.thread());
        let report = runtime.shutdown(T);
        assert_eq!(report.refused.len(), 1, "{report:?}");
        let told = leaks(&runtime, &capture);
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].0, stubborn.thread().id().as_u64());
    }
}
