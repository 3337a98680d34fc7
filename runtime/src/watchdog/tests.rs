//! What the watchdog says where the kernel tells it little: nothing it does not know.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::Runtime;
use crate::event::{CarrierState, Event, PinSource, Pinned, Stalled};
use crate::primitive::Ordering;

const BLOCKED: Duration = Duration::from_millis(700);

/// Blocks in the kernel without telling anybody.
fn block() {
    let (_open, closed) = std::sync::mpsc::channel::<()>();
    assert!(closed.recv_timeout(BLOCKED).is_err());
}

/// A runtime of one carrier whose `/proc` is `root`.
fn runtime(root: &Path) -> Runtime {
    Runtime::builder()
        .carriers(1)
        .pin_threshold(Duration::ZERO)
        .procfs(root.to_owned())
        .build()
        .expect("one carrier")
}

/// What is reported when a thread blocks: the stalls, and the pins that have ended.
fn reported(runtime: &Runtime) -> (Vec<Stalled>, Vec<Pinned>) {
    let mut events = runtime.event_reader();
    runtime.spawn(block).join().expect("no panic");
    assert!(runtime.flush_events());
    let (mut stalls, mut pins) = (Vec::new(), Vec::new());
    events.drain(|recorded| match recorded.event {
        Event::CarrierStalled(stall) => stalls.push(stall),
        Event::VirtualThreadPinned(pin) => pins.push(pin),
        _ => {}
    });
    (stalls, pins)
}

#[test]
fn without_procfs_the_state_is_unknown_and_nothing_is_guessed() {
    let (stalls, pins) = reported(&runtime(Path::new("/nonexistent")));
    assert_eq!(pins, []);
    let [stall] = &stalls[..] else {
        panic!("a thread that stays mounted is a stall: {stalls:?}")
    };
    assert_eq!((stall.state, &stall.native), (CarrierState::Unknown, &None));
    assert!(stall.stack.is_empty());
}

/// As in a container that withholds the rights of a debugger: state and times, but no system call.
#[test]
fn without_the_system_call_blocking_is_told_but_not_named() {
    let root = tempfile::tempdir().expect("a folder");
    let runtime = runtime(root.path());
    let limit = Instant::now() + Duration::from_secs(10);
    let tid = loop {
        match runtime
            .shared()
            .carrier(0)
            .tid
            .load(std::sync::atomic::Ordering::Relaxed)
        {
            0 => assert!(Instant::now() < limit, "the carrier starts"),
            tid => break tid,
        }
    };
    let folder = root.path().join(format!("self/task/{tid}"));
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("stat"), "7 (a) b (vt-carrier) S 1 7").expect("written");
    fs::write(folder.join("schedstat"), "1000 2000 3").expect("written");
    let (stalls, pins) = reported(&runtime);
    let [pin] = &pins[..] else {
        panic!("blocked by state and times: {pins:?}")
    };
    assert_eq!(pin.source, PinSource::Sampled);
    assert_eq!(
        (&pin.native, &pin.waits_for, &pin.blocked_at),
        (&None, &None, &None)
    );
    assert!(
        pin.stack.is_empty() && pin.duration >= BLOCKED / 2,
        "{pin:?}"
    );
    assert!(
        stalls
            .iter()
            .all(|stall| stall.state == CarrierState::Blocked),
        "{stalls:?}"
    );
}

/// Waits pinned for long enough that the watchdog has looked, where it must.
#[inline(never)]
fn waits_pinned() {
    let is_walked = crate::park::has_frame_pointers();
    let long = if is_walked {
        Duration::from_millis(1)
    } else {
        BLOCKED
    };
    crate::pinned::critical("here", || crate::thread::sleep(long));
    std::hint::black_box(());
}

/// With frame pointers the carrier takes the stack itself; without, the watchdog sees it while the wait lasts.
#[test]
fn a_pinned_wait_has_its_stack_in_any_build() {
    let runtime = runtime(Path::new("/proc"));
    let mut events = runtime.event_reader();
    runtime.run(waits_pinned);
    let mut names = Vec::new();
    events.drain(|recorded| {
        if let Event::VirtualThreadPinned(pin) = recorded.event {
            let frames = crate::event::symbolize(&pin.stack);
            names.extend(frames.into_iter().map(|frame| frame.function));
        }
    });
    assert!(
        names.iter().any(|name| name.ends_with("waits_pinned")),
        "{names:#?}"
    );
}

/// Waits unmounted until it is woken.
#[inline(never)]
fn waits_unmounted() {
    crate::thread::park();
    // Something to do afterwards, or there would be no frame to come back to.
    std::hint::black_box(());
}

#[test]
fn a_waiting_thread_has_its_stack_in_any_build() {
    let runtime = runtime(Path::new("/proc"));
    let waiting = runtime.spawn(waits_unmounted);
    let limit = Instant::now() + Duration::from_secs(60);
    let names = loop {
        let dump = runtime.thread_dump();
        if let Some(info) = dump.iter().find(|info| !info.stack.is_empty()) {
            let frames = crate::event::symbolize(&info.stack);
            break frames
                .into_iter()
                .map(|frame| frame.function)
                .collect::<Vec<_>>();
        }
        assert!(Instant::now() < limit, "it waits, without a stack");
        std::thread::yield_now();
    };
    waiting.thread().unpark();
    waiting.join().expect("no panic");
    assert!(
        names.iter().any(|name| name.ends_with("waits_unmounted")),
        "{names:#?}"
    );
}

#[test]
fn a_flush_counts_what_its_own_thread_did_as_ended() {
    let runtime = runtime(Path::new("/proc"));
    let carrier = runtime.shared().carrier(0).clone();
    let shared = runtime.shared().clone();
    let moved = runtime.run(move || {
        let before = carrier.mounts.load(Ordering::Relaxed);
        super::look_now(&shared, Duration::from_secs(10));
        carrier.mounts.load(Ordering::Relaxed) - before
    });
    assert_eq!(moved, 1);
}
