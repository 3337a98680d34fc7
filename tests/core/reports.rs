//! What the report of a shutdown says of threads that end by themselves, and of a caller that lends to one beyond reach.

use std::sync::mpsc::channel;

use vt_runtime::thread::{Builder, ThreadInfo};
use vt_tests::{BACKENDS, Deadline, Gate, T, runtime, until_it_waits};

fn names(list: &[ThreadInfo]) -> Vec<&str> {
    list.iter().map(|info| &*info.name).collect()
}

/// An OS thread of no runtime.
fn os_thread<T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> std::thread::JoinHandle<T> {
    let builder = std::thread::Builder::new().name("outside".to_owned());
    builder.spawn(body).expect("an OS thread")
}

#[test]
fn who_ends_within_the_limit_is_reported_as_finished() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, _capture) = runtime(stacks, 2);
        let earlier = Builder::new().name("earlier").spawn_in(&runtime, || ());
        earlier.expect("spawned").join().expect("no panic");
        let (release, released) = channel::<()>();
        let inside = Gate::new();
        let entered = inside.clone();
        let ends = Builder::new()
            .name("ends")
            .carrier(0)
            .spawn_in(&runtime, move || {
                entered.open();
                let _ = released.recv();
                5
            });
        let ends = ends.expect("spawned");
        inside.pass();
        // A caller that is seen to wait has taken down who was live.
        let (observers, _capture) = vt_tests::runtime(stacks, 1);
        let stopped = runtime.clone();
        let caller = observers.spawn(move || stopped.shutdown(300 * T));
        until_it_waits(&observers, caller.thread());
        release.send(()).expect("it waits");
        let report = caller.join().expect("no panic");
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(names(&report.finished), ["ends"], "{report:?}");
        assert!(report.cancelled.is_empty(), "{report:?}");
        assert_eq!(ends.join().expect("not cancelled"), 5);
    }
}

#[test]
fn who_runs_a_thread_beyond_the_reach_of_a_shutdown_gets_its_value() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        // From a plain OS thread, and from a virtual one, whose wait lends what the other borrows.
        for from_virtual in [false, true] {
            let (runtime, _capture) = runtime(stacks, 2);
            let (release, released) = channel::<()>();
            let inside = Gate::new();
            let (entered, within) = (inside.clone(), runtime.clone());
            let lends = move || {
                let mut lent = 1;
                let borrowed = &mut lent;
                let value = within.run(move || {
                    entered.open();
                    let _ = released.recv();
                    *borrowed += 1;
                    40
                });
                value + lent
            };
            let lender = if from_virtual {
                let lender = Builder::new().name("lender").carrier(0);
                let lender = lender.spawn_in(&runtime, lends).expect("spawned");
                inside.pass();
                until_it_waits(&runtime, lender.thread());
                os_thread(move || lender.join().expect("not cancelled"))
            } else {
                os_thread(lends)
            };
            inside.pass();
            let report = runtime.shutdown(T);
            assert!(!report.is_complete(), "{report:?}");
            assert!(names(&report.finished).is_empty(), "{report:?}");
            assert!(names(&report.cancelled).is_empty(), "{report:?}");
            let lending: &[&str] = if from_virtual { &["lender"] } else { &[] };
            assert_eq!(names(&report.lending), lending, "{report:?}");
            assert!(!lender.is_finished());
            release.send(()).expect("it waits");
            assert_eq!(lender.join().expect("no panic"), 42);
        }
    }
}
