//! Blocking that nobody declared: seen from outside, named with its call and the application's line.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use vt_runtime::event::{CarrierState, DeadlockKind, Event, PinReason, PinSource};
use vt_runtime::thread::{self, Builder};
use vt_runtime::{DeadlockPolicy, Runtime};
use vt_tests::{BACKENDS, Capture, Deadline, Gate, builder};

/// Set in the child process that is to abort.
const CHILD: &str = "VT_TESTS_SELF_LOCK_CHILD";

/// The first event that `pick` accepts, within ten seconds.
fn first<T>(capture: &Capture, pick: impl Fn(Event) -> Option<T>) -> T {
    let limit = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(found) = capture.so_far().into_iter().find_map(&pick) {
            return found;
        }
        assert!(Instant::now() < limit, "not reported");
        std::thread::yield_now();
    }
}

#[test]
fn a_blocking_call_of_std_is_named_with_the_callers_line() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (builder, capture) = builder(stacks, 1);
        let runtime = builder.build().expect("carriers start");
        let (_open, closed) = std::sync::mpsc::channel::<()>();
        let line = line!() + 2;
        let blocked = runtime.spawn(move || {
            let ended = closed.recv_timeout(Duration::from_millis(120));
            assert!(ended.is_err());
        });
        blocked.join().expect("no panic");
        let pin = first(&capture, |event| match event {
            Event::VirtualThreadPinned(pin) => Some(pin),
            _ => None,
        });
        assert_eq!(
            (pin.reason, pin.source),
            (PinReason::Native, PinSource::Sampled)
        );
        assert_eq!(pin.native.as_deref(), Some("futex"));
        assert!(pin.duration >= Duration::from_millis(90), "{pin:?}");
        // Never a line of std or of the runtime: the application's, or none.
        if let Some(place) = &pin.blocked_at {
            assert!(
                place.file.ends_with("tests/acceptance/undeclared.rs"),
                "{place}"
            );
            assert_eq!(place.line, line, "{place}");
        }
    }
}

/// One std mutex, held over a wait of the runtime, wanted by a neighbour on the same carrier.
fn hold_a_std_lock_over_a_wait(runtime: &Runtime) {
    let lock = Arc::new(Mutex::new(()));
    let held = Gate::new();
    let holder = {
        let (lock, held) = (Arc::clone(&lock), held.clone());
        Builder::new()
            .name("holder")
            .carrier(0)
            .spawn_in(runtime, move || {
                let _guard = lock.lock().expect("not poisoned");
                held.open();
                thread::park();
            })
    };
    held.pass();
    let wanter = Builder::new()
        .name("wanter")
        .carrier(0)
        .spawn_in(runtime, move || drop(lock.lock()));
    // Both are stuck for ever; the process ends without them.
    std::mem::forget((holder, wanter));
}

#[test]
fn a_std_lock_held_over_a_wait_is_suspected_within_a_second() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (builder, capture) = builder(stacks, 1);
        let runtime = builder.build().expect("carriers start");
        let start = Instant::now();
        hold_a_std_lock_over_a_wait(&runtime);
        let found = first(&capture, |event| match event {
            Event::PinnedDeadlock(deadlock) => Some(deadlock),
            _ => None,
        });
        assert!(
            start.elapsed() < Duration::from_secs(2),
            "{:?}",
            start.elapsed()
        );
        assert_eq!(
            (found.kind, &*found.carriers),
            (DeadlockKind::CarrierSelfLock, &[0][..])
        );
        for part in [
            "carrier-0",
            "futex",
            "wanter",
            "holder",
            "undeclared.rs",
            "park_safe",
        ] {
            assert!(found.cycle.contains(part), "{part}: {}", found.cycle);
        }
        let stall = first(&capture, |event| match event {
            Event::CarrierStalled(stall) => Some(stall),
            _ => None,
        });
        assert_eq!(stall.state, CarrierState::Blocked);
        std::mem::forget(runtime);
    }
}

#[test]
fn the_policy_abort_ends_a_suspected_self_lock() {
    let _deadline = Deadline::standard();
    if std::env::var_os(CHILD).is_some() {
        let runtime = Runtime::builder()
            .carriers(1)
            .deadlock_policy(DeadlockPolicy::Abort)
            .build();
        hold_a_std_lock_over_a_wait(&runtime.expect("carriers start"));
        std::thread::park_timeout(Duration::from_secs(20));
        return;
    }
    let child = Command::new(std::env::current_exe().expect("a path"))
        .args([
            "the_policy_abort_ends_a_suspected_self_lock",
            "--exact",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .expect("the child runs");
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(!child.status.success());
    assert!(
        text.contains("suspected deadlock") && text.contains("holder"),
        "{text}"
    );
}
