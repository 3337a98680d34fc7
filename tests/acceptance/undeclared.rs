//! Blocking that nobody declared: seen from outside, named with its call and the application's line.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};
use vt_runtime::event::{
    self, CarrierState, Deadlock, DeadlockKind, Event, PinReason, PinSource, Pinned,
};
use vt_runtime::thread::{self, Builder};
use vt_runtime::{DeadlockPolicy, Runtime, Stacks};
use vt_tests::{BACKENDS, Capture, Deadline, Gate, builder};

/// Set in the child process that is to abort.
const CHILD: &str = "VT_TESTS_SELF_LOCK_CHILD";

/// The first event that `pick` accepts, within a minute.
fn first<T>(capture: &Capture, pick: impl Fn(Event) -> Option<T>) -> T {
    let limit = Instant::now() + Duration::from_secs(60);
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
        let line = line!() + 3;
        let block = || {
            let (_open, closed) = std::sync::mpsc::channel::<()>();
            let ended = closed.recv_timeout(Duration::from_millis(120));
            assert!(ended.is_err());
        };
        let pin = longest(&runtime, &capture, block);
        assert_eq!(
            (pin.reason, pin.source),
            (PinReason::Native, PinSource::Sampled)
        );
        assert_eq!(pin.native.as_deref(), Some("futex"));
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

/// The longest pin of a thread that does that; once more if the machine was too busy to see any of most of it.
fn longest(runtime: &Runtime, capture: &Capture, block: fn()) -> Pinned {
    loop {
        capture.clear();
        runtime.spawn(block).join().expect("no panic");
        let pins = capture.pinned_or_sampled(runtime);
        let longest = pins.into_iter().max_by_key(|pin| pin.duration);
        if let Some(pin) = longest.filter(|pin| pin.duration >= Duration::from_millis(60)) {
            return pin;
        }
    }
}

/// The pin of a thread that blocks as `block` says, about 150 ms.
fn blocked(block: fn()) -> Pinned {
    let (builder, capture) = builder(BACKENDS[0], 1);
    let runtime = builder.build().expect("carriers start");
    let pin = longest(&runtime, &capture, block);
    assert_eq!(pin.source, PinSource::Sampled);
    pin
}

/// Calls `act` on an OS thread after a moment that is long enough to be seen.
fn later(act: impl FnOnce() + Send + 'static) {
    let waits = move || {
        std::thread::park_timeout(Duration::from_millis(150));
        act();
    };
    std::thread::Builder::new().spawn(waits).expect("a thread");
}

#[test]
fn the_descriptor_that_is_waited_for_is_told_by_its_kind() {
    let _deadline = Deadline::standard();
    let pin = blocked(|| {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        later(move || drop(writer));
        reader.read_to_end(&mut Vec::new()).expect("it ends");
    });
    assert_eq!(pin.native.as_deref(), Some("read"));
    let awaited = pin.waits_for.as_deref().unwrap_or_default();
    assert!(awaited.starts_with("pipe fd "), "{pin:?}");

    let pin = blocked(|| {
        let (mut one, other) = UnixStream::pair().expect("a pair");
        later(move || drop(other));
        one.read_to_end(&mut Vec::new()).expect("it ends");
    });
    assert!(
        matches!(pin.native.as_deref(), Some("read" | "recvfrom")),
        "{pin:?}"
    );
    let awaited = pin.waits_for.as_deref().unwrap_or_default();
    assert!(awaited.starts_with("socket fd "), "{pin:?}");

    let pin = blocked(|| {
        let (_open, closed) = std::sync::mpsc::channel::<()>();
        assert!(closed.recv_timeout(Duration::from_millis(150)).is_err());
    });
    let awaited = pin.waits_for.as_deref().unwrap_or_default();
    assert!(awaited.starts_with("futex@0x"), "{pin:?}");
}

#[test]
fn an_exit_right_after_undeclared_blocking_still_reports_it() {
    let _deadline = Deadline::standard();
    if std::env::var_os(CHILD).is_some() {
        let to_stderr = Told;
        tracing::subscriber::set_global_default(to_stderr).expect("the first");
        thread::spawn(|| {
            let (_open, closed) = std::sync::mpsc::channel::<()>();
            assert!(closed.recv_timeout(Duration::from_millis(150)).is_err());
            std::process::exit(0);
        });
        std::thread::park_timeout(Duration::from_secs(20));
        return;
    }
    let child = Command::new(std::env::current_exe().expect("a path"))
        .args([
            "an_exit_right_after_undeclared_blocking_still_reports_it",
            "--exact",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .expect("the child runs");
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{text}");
    assert!(text.contains("sampled pin"), "{text}");
}

/// Says at each sampled pin that there was one.
struct Told;

impl Subscriber for Told {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == event::TARGET
    }

    fn event(&self, event: &tracing::Event<'_>) {
        if let Some(Event::VirtualThreadPinned(pin)) = event::decode(event)
            && pin.source == PinSource::Sampled
        {
            eprintln!("sampled pin in {:?}", pin.native);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// What a thread's blocking of 700 ms is told as: the state of its stall, and the call of its pin.
fn told_of_blocking() -> (Option<CarrierState>, Option<String>) {
    let (builder, capture) = builder(BACKENDS[0], 1);
    let runtime = builder.build().expect("carriers start");
    let block = || {
        let (_open, closed) = std::sync::mpsc::channel::<()>();
        assert!(closed.recv_timeout(Duration::from_millis(700)).is_err());
    };
    runtime.spawn(block).join().expect("no panic");
    let (mut state, mut call) = (None, None);
    for event in capture.events(&runtime) {
        match event {
            Event::CarrierStalled(stall) => state = Some(stall.state),
            Event::VirtualThreadPinned(pin) => call = pin.native.map(|name| name.to_string()),
            _ => {}
        }
    }
    (state, call)
}

/// Runs this test again where `mount` has changed `/proc`; skipped where that is not permitted.
fn run_with(mount: &str) {
    let separated = |command: &str| {
        let mut separated = Command::new("unshare");
        separated
            .args(["--user", "--map-root-user", "--mount", "--pid", "--fork"])
            .args(["sh", "-c", &format!("{mount} && {command}")]);
        separated
    };
    if !separated("true")
        .output()
        .is_ok_and(|done| done.status.success())
    {
        println!("skipped: no namespace with {mount}");
        return;
    }
    let program = std::env::current_exe().expect("a path");
    let run = format!(
        "exec {} blocking_is_told_as_far_as_procfs_tells_it --exact --nocapture",
        program.display()
    );
    let child = separated(&run).env(CHILD, mount).output().expect("it ran");
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{mount}: {text}");
}

#[test]
fn blocking_is_told_as_far_as_procfs_tells_it() {
    const HIDDEN: &str = "mount -t proc -o hidepid=2 proc /proc";
    const NONE: &str = "mount -t tmpfs none /proc";
    let _deadline = Deadline::standard();
    match std::env::var(CHILD).as_deref() {
        Ok(HIDDEN) => {
            let (state, call) = told_of_blocking();
            assert!(
                state.is_some_and(|state| state != CarrierState::Unknown),
                "{state:?}"
            );
            assert_eq!(call.as_deref(), Some("futex"));
        }
        Ok(NONE) => assert_eq!(told_of_blocking(), (Some(CarrierState::Unknown), None)),
        _ => {
            run_with(HIDDEN);
            run_with(NONE);
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

/// Holds one so in a new runtime: how long after the wanter's start it was told, by the events' own times, and what.
fn suspected(stacks: Stacks) -> (Duration, Capture, Deadlock) {
    let (builder, capture) = builder(stacks, 1);
    let runtime = builder.build().expect("carriers start");
    let mut times = runtime.event_reader();
    hold_a_std_lock_over_a_wait(&runtime);
    let found = first(&capture, |event| match event {
        Event::PinnedDeadlock(deadlock) => Some(deadlock),
        _ => None,
    });
    let (mut began, mut told) = (None, None);
    times.drain(|recorded| match recorded.event {
        Event::VirtualThreadStart { thread, .. } if &*thread.name == "wanter" => {
            began = Some(recorded.at);
        }
        Event::PinnedDeadlock(_) => told = Some(recorded.at),
        _ => {}
    });
    let (began, told) = (began.expect("it started"), told.expect("it was told"));
    let took = Duration::from_nanos(told.0 - began.0);
    // It never ends.
    std::mem::forget(runtime);
    (took, capture, found)
}

#[test]
fn a_std_lock_held_over_a_wait_is_suspected_within_a_second() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        // A busy machine may be late once, and the first report loads the names of the program's lines.
        let (_, capture, found) = std::iter::repeat_with(|| suspected(stacks))
            .find(|(took, ..)| *took < Duration::from_secs(1))
            .expect("tried until it is in time");
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
        assert_ne!(stall.state, CarrierState::Unknown);
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
