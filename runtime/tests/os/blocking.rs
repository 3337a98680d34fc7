//! Work sent to the offload pool.

use std::panic::AssertUnwindSafe;
use std::sync::mpsc;
use std::time::Duration;

use vt_runtime::event::Event;
use vt_runtime::{Runtime, Stacks, blocking, blocking_in_place, pinned, thread};

use super::{on_both, until, until_it_waits, within_limit};

/// The default of the pin threshold, from which a wait for a thread of the pool is reported too.
const THRESHOLD: Duration = Duration::from_millis(20);

#[test]
fn the_carrier_is_free_while_the_work_blocks() {
    on_both(1, |runtime| {
        let (release, released) = mpsc::channel::<()>();
        let sends_away = runtime.spawn(move || {
            blocking(move || {
                released.recv().expect_err("the test lets go");
                (thread::is_virtual(), name())
            })
        });
        until_it_waits(runtime, sends_away.thread().id());
        assert_eq!(runtime.spawn(|| 3).join().expect("the carrier is free"), 3);
        drop(release);
        let (is_virtual, name) = sends_away.join().expect("no panic");
        assert!(!is_virtual);
        assert!(name.starts_with("vt-offload-"), "{name}");
    });
}

fn name() -> String {
    std::thread::current().name().unwrap_or("").to_owned()
}

#[test]
fn the_work_may_borrow_and_its_panic_comes_back() {
    on_both(2, |runtime| {
        let mut text = String::from("borrowed");
        runtime.run(|| {
            let length = blocking(|| text.len());
            blocking(|| text.push('!'));
            assert_eq!((length, &*text), (8, "borrowed!"));
            let panics = AssertUnwindSafe(|| blocking(|| panic!("there")));
            let payload = std::panic::catch_unwind(panics).expect_err("it panics");
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"there"));
            assert_eq!(blocking(|| 1), 1);
        });
        assert_eq!(text, "borrowed!");
    });
}

#[test]
fn work_inside_work_runs_in_place() {
    within_limit(|| {
        let runtime = one_offload_thread();
        let names = runtime.run(|| blocking(|| (name(), blocking(|| (name(), blocking(name))))));
        assert_eq!(names.0, names.1.0);
        assert_eq!(names.0, names.1.1);
    });
}

fn one_offload_thread() -> Runtime {
    Runtime::builder()
        .carriers(2)
        .offload_threads(1)
        .build()
        .expect("carriers can be started")
}

#[test]
fn work_beyond_the_pool_waits_its_turn_and_the_wait_is_counted() {
    within_limit(|| {
        let runtime = one_offload_thread();
        let (release, released) = mpsc::channel::<()>();
        let first =
            runtime.spawn(move || blocking(move || released.recv().expect_err("the test lets go")));
        until(|| runtime.metrics().offload.threads == 1);
        let patient = runtime.spawn(|| blocking(|| ()));
        let waits_long = patient.thread().id().as_u64();
        until(|| runtime.metrics().offload.queued == 1);
        let sent = std::time::Instant::now();
        until(|| sent.elapsed() > THRESHOLD * 2);
        let later: Vec<_> = (0..99)
            .map(|n| runtime.spawn(move || blocking(move || n)))
            .collect();
        until(|| runtime.metrics().offload.queued == 100);
        drop(release);
        first.join().expect("no panic");
        let sum: i32 = later
            .into_iter()
            .map(|handle| handle.join().expect("no panic"))
            .sum();
        assert_eq!(sum, 4851);
        patient.join().expect("no panic");
        until(|| runtime.metrics().offload.finished == 101);
        let metrics = runtime.metrics().offload;
        assert_eq!((metrics.threads, metrics.max_threads), (1, 1));
        assert!(metrics.queue_time >= metrics.longest_queue_time);
        assert!(metrics.longest_queue_time > Duration::ZERO);
        // Those that waited for long say so themselves.
        let queued: Vec<_> = super::events(&runtime)
            .into_iter()
            .filter_map(|event| match event {
                Event::OffloadQueued {
                    thread,
                    queued,
                    max,
                } => Some((thread.id, queued, max)),
                _ => None,
            })
            .collect();
        assert!(queued.iter().any(|&(thread, ..)| thread == waits_long));
        for &(_, queued, max) in &queued {
            assert!(queued >= THRESHOLD && queued <= metrics.longest_queue_time);
            assert_eq!(max, 1);
        }
    });
}

#[test]
fn neither_interrupt_nor_shutdown_ends_a_wait_that_lends() {
    for stacks in [Stacks::Dense, Stacks::Generator] {
        within_limit(|| {
            let runtime = Runtime::builder()
                .stacks(stacks)
                .build()
                .expect("carriers can be started");
            let (release, released) = mpsc::channel::<()>();
            let lends = runtime.spawn(move || {
                let mut value = 0;
                let borrowed = &mut value;
                blocking(move || {
                    released.recv().expect_err("the test lets go");
                    *borrowed = 1;
                });
                value
            });
            until_it_waits(&runtime, lends.thread().id());
            lends.thread().interrupt();
            let report = runtime.shutdown(Duration::ZERO);
            assert_eq!(report.lending.len(), 1, "{report:?}");
            drop(release);
            // The work is done; the thread itself is cancelled at its next wait, and has none.
            assert_eq!(lends.join().expect("no panic"), 1);
        });
    }
}

#[test]
fn plain_os_threads_do_it_themselves() {
    let here = std::thread::current().id();
    assert_eq!(blocking(|| std::thread::current().id()), here);
    assert_eq!(blocking_in_place(|| std::thread::current().id()), here);
}

#[test]
fn pinned_work_is_reported_as_blocking() {
    on_both(1, |runtime| {
        runtime.run(|| pinned::critical("holds on", || blocking(|| ())));
        let pins: Vec<_> = super::events(runtime)
            .into_iter()
            .filter_map(|event| match event {
                vt_runtime::event::Event::VirtualThreadPinned(pin) => Some(pin.operation),
                _ => None,
            })
            .collect();
        assert!(
            pins.iter()
                .all(|&operation| operation == vt_runtime::event::Operation::Blocking),
            "{pins:?}"
        );
    });
}
