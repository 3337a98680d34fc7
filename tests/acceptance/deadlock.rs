//! Deadlocks by pinning: named while they last, ended as the policy says, and not made where they can be avoided.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Metadata, Subscriber};
use vt_runtime::event::{Deadlock, DeadlockKind, Event, Operation, PinReason, Reader};
use vt_runtime::sync::{LockError, Monitor, ReentrantLock};
use vt_runtime::thread::{self, Builder};
use vt_runtime::{DeadlockPolicy, Runtime, Stacks};
use vt_tests::{BACKENDS, Capture, Deadline, Gate, T, builder, runtime};

/// Set in the child process that is to abort.
const CHILD: &str = "VT_TESTS_DEADLOCK_CHILD";

fn deadlocks(events: &[Event]) -> Vec<Deadlock> {
    let deadlock = |event: &Event| match event {
        Event::PinnedDeadlock(deadlock) => Some(deadlock.clone()),
        _ => None,
    };
    events.iter().filter_map(deadlock).collect()
}

/// Waits for the first deadlock that is reported, for one second.
fn first_deadlock(capture: &Capture) -> Option<Deadlock> {
    let limit = Instant::now() + Duration::from_secs(1);
    while Instant::now() < limit {
        if let Some(deadlock) = deadlocks(&capture.so_far()).pop() {
            return Some(deadlock);
        }
        std::thread::yield_now();
    }
    None
}

/// How long after the start of that thread a deadlock was reported, by the events' own times.
fn told_after(times: &mut Reader, waiter: &str) -> Duration {
    let (mut began, mut told) = (None, None);
    times.drain(|recorded| match recorded.event {
        Event::VirtualThreadStart { thread, .. } if &*thread.name == waiter => {
            began = Some(recorded.at);
        }
        Event::PinnedDeadlock(_) => told = Some(recorded.at),
        _ => {}
    });
    let (began, told) = (began.expect("it started"), told.expect("it was told"));
    Duration::from_nanos(told.0 - began.0)
}

/// The classic: the owner of a lock is off its carrier, and every carrier is kept by one who waits for that lock.
fn strand_the_owner(runtime: &Runtime) -> [Result<(), LockError>; 2] {
    let audit = Arc::new(ReentrantLock::named("audit", ()));
    let owns = Gate::new();
    let owner = {
        let (audit, owns) = (Arc::clone(&audit), owns.clone());
        Builder::new()
            .name("V0")
            .carrier(0)
            .spawn_in(runtime, move || {
                let _held = audit.lock();
                owns.open();
                // Long enough for the others to come, on a busy machine too.
                thread::sleep(4 * T);
            })
    };
    owns.pass();
    let waiter = |name: &str, carrier: usize| {
        let audit = Arc::clone(&audit);
        Builder::new()
            .name(name)
            .carrier(carrier)
            .spawn_in(runtime, move || {
                let own = Monitor::named("own", ());
                let _pin = own.enter();
                audit.lock_checked().map(drop)
            })
    };
    let waiters = [waiter("V1", 0), waiter("V2", 1)];
    let results = waiters.map(|waiter| waiter.expect("spawned").join().expect("no panic"));
    owner.expect("spawned").join().expect("no panic");
    results
}

#[test]
fn oc_06_all_carriers_pinned_while_the_owner_is_unmounted() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (builder, capture) = builder(stacks, 2);
        let runtime = builder
            .deadlock_policy(DeadlockPolicy::Error)
            .build()
            .expect("carriers start");
        let mut times = runtime.event_reader();
        let [first, second] = strand_the_owner(&runtime);
        let took = told_after(&mut times, "V1");
        assert!(took < Duration::from_secs(1), "{took:?}");
        let error = first.expect_err("its carrier is the owner's home");
        assert!(matches!(error, LockError::Deadlock(_)), "{error}");
        assert!(error.to_string().contains("audit"), "{error}");
        assert_eq!(second, Ok(()));
        let found = deadlocks(&capture.events(&runtime));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].kind, DeadlockKind::OwnerStranded);
        assert_eq!(found[0].lock.as_deref(), Some("audit"));
        assert!(
            found[0]
                .owner
                .as_deref()
                .is_some_and(|owner| owner.contains("V0")),
            "{found:?}"
        );
        assert!(found[0].carriers.contains(&0));
        assert!(
            ["V0", "V1", "audit"]
                .iter()
                .all(|part| found[0].cycle.contains(part)),
            "{found:?}"
        );
    }
}

#[test]
fn oc_06_the_policy_abort_ends_the_process_with_the_story() {
    let _deadline = Deadline::standard();
    if std::env::var_os(CHILD).is_some() {
        let runtime = Runtime::builder()
            .carriers(2)
            .deadlock_policy(DeadlockPolicy::Abort)
            .build();
        let _ = strand_the_owner(&runtime.expect("carriers start"));
        return;
    }
    let child = Command::new(std::env::current_exe().expect("a path"))
        .args([
            "oc_06_the_policy_abort_ends_the_process_with_the_story",
            "--exact",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .expect("the child runs");
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(!child.status.success());
    assert!(
        text.contains("deadlock") && text.contains("audit") && text.contains("V0"),
        "{text}"
    );
}

#[test]
fn oc_07_a_free_lock_never_waits_for_a_stranded_successor() {
    let _deadline = Deadline::standard();
    for (round, stacks) in (0..200).map(|round| (round, BACKENDS[round % 2])) {
        let (runtime, capture) = runtime(stacks, 2);
        let lock = Arc::new(ReentrantLock::new(()).fair(round % 4 >= 2));
        let entered = Arc::new(AtomicUsize::new(0));
        let held = lock.lock();
        let contender = |carrier: usize, pins: bool| {
            let (lock, entered) = (Arc::clone(&lock), Arc::clone(&entered));
            let thread = Builder::new().carrier(carrier).spawn_in(&runtime, move || {
                let own = Monitor::new(());
                let _pin = pins.then(|| own.enter());
                let _held = lock.lock();
                entered.fetch_add(1, Ordering::SeqCst);
            });
            thread.expect("spawned")
        };
        let waits = |thread: &thread::JoinHandle<()>| {
            let id = thread.thread().id();
            while !runtime
                .threads()
                .iter()
                .any(|info| info.id == id && info.waits_for.is_some())
            {
                std::thread::yield_now();
            }
        };
        let unmounted = contender(0, false);
        waits(&unmounted);
        let pinned = [contender(0, true), contender(1, true)];
        if round % 3 == 0 {
            pinned.iter().for_each(waits);
        }
        drop(held);
        for thread in pinned.into_iter().chain([unmounted]) {
            thread.join().expect("no panic");
        }
        assert_eq!(entered.load(Ordering::SeqCst), 3);
        let events = capture.events(&runtime);
        assert_eq!(deadlocks(&events), []);
        for pin in capture.pinned(&runtime) {
            assert_eq!(
                (pin.reason, pin.operation),
                (PinReason::Monitor, Operation::Lock)
            );
        }
    }
}

#[test]
fn oc_08_one_pinned_carrier_is_enough() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        for policy in [DeadlockPolicy::Error, DeadlockPolicy::Report] {
            one_pinned_carrier(stacks, policy);
        }
    }
}

fn one_pinned_carrier(stacks: Stacks, policy: DeadlockPolicy) {
    let (builder, capture) = builder(stacks, 2);
    let runtime = builder
        .deadlock_policy(policy)
        .build()
        .expect("carriers start");
    let lock = Arc::new(ReentrantLock::named("L", ()));
    let (owns, stop, turns) = (Gate::new(), Gate::new(), Arc::new(AtomicUsize::new(0)));
    let owner = {
        let (lock, owns) = (Arc::clone(&lock), owns.clone());
        Builder::new()
            .name("V0")
            .carrier(0)
            .spawn_in(&runtime, move || {
                let _held = lock.lock();
                owns.open();
                thread::park_timeout(3 * T);
            })
    };
    let counter = {
        let (stop, turns) = (stop.clone(), Arc::clone(&turns));
        Builder::new()
            .carrier(1)
            .spawn_in(&runtime, move || stop.count_turns(&turns))
    };
    owns.pass();
    let waiter = Builder::new()
        .name("P")
        .carrier(0)
        .spawn_in(&runtime, move || {
            let own = Monitor::named("own", ());
            let _pin = own.enter();
            lock.lock_checked().map(drop)
        });
    let found = first_deadlock(&capture).expect("reported while it lasts");
    assert_eq!(
        (found.kind, &*found.carriers),
        (DeadlockKind::OwnerStranded, &[0][..]),
        "{found:?}"
    );
    assert!(
        found
            .owner
            .as_deref()
            .is_some_and(|owner| owner.contains("V0")),
        "{found:?}"
    );
    assert!(
        found.cycle.contains("own") && found.cycle.contains("tests/acceptance/deadlock.rs"),
        "{found:?}"
    );
    let before = turns.load(Ordering::SeqCst);
    if policy == DeadlockPolicy::Error {
        let ended = waiter.expect("spawned").join().expect("no panic");
        assert!(matches!(ended, Err(LockError::Deadlock(_))));
        owner.expect("spawned").join().expect("no panic");
        stop.open();
        counter.expect("spawned").join().expect("no panic");
        assert_eq!(deadlocks(&capture.events(&runtime)).len(), 1);
    } else {
        let limit = Instant::now() + Duration::from_secs(5);
        let live = || {
            capture.so_far().into_iter().find_map(|event| match event {
                Event::VirtualThreadPinnedLive(pin) => Some(pin),
                _ => None,
            })
        };
        while live().is_none() && Instant::now() < limit {
            std::thread::yield_now();
        }
        let pin = live().expect("the pin is reported while it lasts");
        assert_eq!(&*pin.thread.name, "P");
        stop.open();
        let report = runtime.shutdown(T);
        assert!(
            report.cancelled.iter().any(|thread| &*thread.name == "P"),
            "{report:?}"
        );
        let events = capture.events(&runtime);
        assert_eq!(deadlocks(&events).len(), 1);
        // The owner's time-out has passed while its carrier was kept.
        let stranded = events.iter().filter_map(|event| match event {
            Event::VirtualThreadPinned(pin) if &*pin.thread.name == "P" => Some(pin.stranded),
            _ => None,
        });
        assert!(stranded.max() >= Some(1));
    }
    assert!(
        turns.load(Ordering::SeqCst) > before,
        "the other carrier went on"
    );
}

/// Both carriers are kept by threads that wait for one that has not started, and so needs one of them.
fn wait_for_the_unstarted(runtime: &Runtime) -> [std::thread::Result<()>; 2] {
    let ready = [Gate::new(), Gate::new()];
    let waiter = |carrier: usize| {
        let ready = ready.clone();
        let waiter = Builder::new()
            .carrier(carrier)
            .name(format!("waiter-{carrier}"));
        waiter.spawn_in(runtime, move || {
            let own = Monitor::named("own", ());
            let _pin = own.enter();
            ready[carrier].open();
            // An OS thread's way to wait for the other: nobody else is to be mounted here meanwhile.
            while !ready[1 - carrier].is_open() {
                std::hint::spin_loop();
            }
            let never = Builder::new().name("never started").spawn(|| ());
            let never = never.expect("spawned");
            never.join().expect("no panic");
        })
    };
    let waiters = [waiter(0), waiter(1)];
    waiters.map(|waiter| waiter.expect("spawned").join())
}

#[test]
fn carriers_kept_for_what_has_not_started_are_a_deadlock() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (builder, capture) = builder(stacks, 2);
        let runtime = builder
            .max_carriers(2)
            .deadlock_policy(DeadlockPolicy::Error)
            .build()
            .expect("carriers start");
        let ended = wait_for_the_unstarted(&runtime);
        let panics: Vec<String> = ended
            .into_iter()
            .filter_map(|ended| ended.err()?.downcast_ref::<String>().cloned())
            .collect();
        assert!(
            panics.len() == 1 && panics[0].contains("every carrier is kept"),
            "{panics:?}"
        );
        let found = deadlocks(&capture.events(&runtime));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].kind, DeadlockKind::AllCarriersPinned);
        assert_eq!(found[0].carriers, [0, 1]);
        for part in [
            "waiter-0",
            "waiter-1",
            "own",
            "never started",
            "deadlock.rs",
            "has not started",
        ] {
            assert!(found[0].cycle.contains(part), "{part}: {found:?}");
        }
    }
}

/// A subscriber that never comes back.
struct Stuck;

impl Subscriber for Stuck {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, _: &tracing::Event<'_>) {
        loop {
            std::thread::park();
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

#[test]
fn a_stuck_subscriber_stops_neither_detection_nor_the_policy() {
    let _deadline = Deadline::standard();
    if std::env::var_os(CHILD).is_some() {
        let runtime = Runtime::builder()
            .carriers(2)
            .pin_threshold(Duration::ZERO)
            .deadlock_policy(DeadlockPolicy::Abort)
            .dispatch(Dispatch::new(Stuck))
            .build()
            .expect("carriers start");
        // The first event is where the subscriber stays.
        runtime.run(|| vt_runtime::pinned::critical("first", || thread::sleep(T / 100)));
        let _ = strand_the_owner(&runtime);
        return;
    }
    let child = Command::new(std::env::current_exe().expect("a path"))
        .args([
            "a_stuck_subscriber_stops_neither_detection_nor_the_policy",
            "--exact",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .expect("the child runs");
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(!child.status.success());
    assert!(
        text.contains("deadlock") && text.contains("audit"),
        "{text}"
    );
}
