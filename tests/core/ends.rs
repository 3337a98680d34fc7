//! Ends that are not the usual one: of threads whose handles are gone, of runtimes from inside, of what will not end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use vt_runtime::thread::{self, Builder};
use vt_runtime::{Runtime, SpawnError, Stacks};
use vt_tests::{BACKENDS, Deadline, Gate};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(50);

fn runtime(stacks: Stacks, carriers: usize) -> Runtime {
    let runtime = Runtime::builder().stacks(stacks).carriers(carriers).build();
    runtime.expect("carriers start")
}

/// Counts its drops.
#[derive(Clone)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new() -> (Self, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        (Self(Arc::clone(&count)), count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn the_result_of_a_dropped_handle_is_dropped_and_of_a_forgotten_one_leaked() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = runtime(stacks, 1);
        let (counted, drops) = Counted::new();
        drop(runtime.spawn(move || counted));
        let (counted, after) = Counted::new();
        let gate = Gate::new();
        let passes = gate.clone();
        let late = runtime.spawn(move || {
            passes.pass();
            counted
        });
        drop(late);
        gate.open();
        let (counted, untaken) = Counted::new();
        let ended = runtime.spawn(move || counted);
        while !ended.is_finished() {
            std::thread::yield_now();
        }
        assert_eq!(untaken.load(Ordering::SeqCst), 0, "it waits for its joiner");
        drop(ended);
        assert_eq!(untaken.load(Ordering::SeqCst), 1);
        let (counted, forgotten) = Counted::new();
        std::mem::forget(runtime.spawn(move || counted));
        let report = runtime.shutdown(LONG);
        assert!(report.is_complete(), "{report:?}");
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        assert_eq!(after.load(Ordering::SeqCst), 1);
        assert_eq!(
            forgotten.load(Ordering::SeqCst),
            0,
            "as the value of any forgotten owner"
        );
    }
}

#[test]
fn a_forgotten_scoped_handle_keeps_its_borrowing_result_for_ever() {
    let _deadline = Deadline::standard();
    struct Reads<'a>(&'a AtomicUsize);
    impl Drop for Reads<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    for stacks in BACKENDS {
        let runtime = runtime(stacks, 2);
        let id = runtime.run(|| {
            let reads = AtomicUsize::new(0);
            let id = thread::scope(|s| {
                let handle = s.spawn(|| Reads(&reads));
                let thread = handle.thread().clone();
                std::mem::forget(handle);
                thread
            });
            assert_eq!(reads.load(Ordering::SeqCst), 0);
            id
        });
        // A result that were dropped here would read what is gone.
        drop(id);
    }
}

#[test]
fn a_runtime_may_be_dropped_inside_its_own_thread() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let outer = runtime(stacks, 1);
        let inner = outer.clone();
        let gate = Gate::new();
        let passes = gate.clone();
        let last = outer.spawn(move || {
            passes.pass();
            drop(inner);
            // Its own runtime is refused to it from now on, which does not hinder it.
            thread::yield_now();
            Builder::new().spawn(|| ()).is_err()
        });
        drop(outer);
        gate.open();
        assert!(
            last.join().expect("no panic"),
            "nothing is spawned on a runtime without handles"
        );
    }
}

#[test]
fn a_runtime_made_and_dropped_inside_a_thread_lets_its_threads_end() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (counted, drops) = Counted::new();
        let handle = runtime(stacks, 1).run(|| {
            let inner = runtime(stacks, 1);
            let handle = inner.spawn(move || {
                thread::sleep(SHORT);
                drop(counted);
                5
            });
            drop(inner);
            handle
        });
        assert_eq!(handle.join().expect("no panic"), 5);
        assert_eq!(drops.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn a_thread_that_never_waits_is_reported_and_left_running() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = runtime(stacks, 2);
        let stop = Arc::new(AtomicBool::new(false));
        let (stops, begun) = (Arc::clone(&stop), Gate::new());
        let begins = begun.clone();
        let computes = Builder::new().name("computes").spawn_in(&runtime, move || {
            begins.open();
            while !stops.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            7
        });
        begun.pass();
        let report = runtime.shutdown(SHORT);
        assert_eq!(report.refused.len(), 1, "{report:?}");
        assert_eq!(&*report.refused[0].name, "computes");
        stop.store(true, Ordering::Relaxed);
        assert_eq!(computes.expect("spawned").join().expect("no panic"), 7);
    }
}

#[test]
fn a_wait_that_lends_memory_is_never_cancelled() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = runtime(stacks, 2);
        let (release, released) = std::sync::mpsc::channel::<()>();
        let inside = Gate::new();
        let entered = inside.clone();
        let lender = Builder::new()
            .name("lender")
            .carrier(0)
            .spawn_in(&runtime, move || {
                let mut lent = 1;
                thread::scope(|s| {
                    let borrower = Builder::new().name("borrower").carrier(1);
                    let lent = &mut lent;
                    let borrows = s.spawn_with(borrower, move || {
                        entered.open();
                        // Beyond the reach of a shutdown, and then it writes to its parent's stack.
                        let _ = released.recv();
                        *lent += 41;
                    });
                    drop(borrows);
                });
                lent
            });
        inside.pass();
        let lender = lender.expect("spawned");
        while !runtime
            .threads()
            .iter()
            .any(|info| info.id == lender.thread().id() && info.waits_for.is_some())
        {
            std::thread::yield_now();
        }
        let report = runtime.shutdown(SHORT);
        let names = |list: &[thread::ThreadInfo]| -> Vec<String> {
            list.iter().map(|info| info.name.to_string()).collect()
        };
        assert_eq!(names(&report.lending), ["lender"], "{report:?}");
        release.send(()).expect("it waits");
        assert_eq!(lender.join().expect("not cancelled"), 42);
    }
}

#[test]
fn who_lends_to_a_thread_that_swallows_its_cancel_waits_on() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = runtime(stacks, 2);
        let (reads, seen) = (Arc::new(AtomicUsize::new(0)), Gate::new());
        let (read, opens) = (Arc::clone(&reads), seen.clone());
        // Neither of the first two ever ends, so that what they lend stays; the third ends with its cancel.
        let lender = Builder::new().name("lender").spawn_in(&runtime, move || {
            let lent = [1];
            thread::scope(|s| {
                let stubborn = Builder::new().name("stubborn");
                let stubborn = s.spawn_with(stubborn, || {
                    thread::scope(|s| {
                        let _reader = s.spawn(|| {
                            read.fetch_add(lent[0], Ordering::SeqCst);
                            opens.open();
                            thread::park();
                        });
                        loop {
                            let _ = std::panic::catch_unwind(thread::park);
                        }
                    })
                });
                // Told apart from the wait for all: this one lends nothing, and ends.
                assert!(stubborn.expect("spawned").join().is_err());
            });
        });
        seen.pass();
        let report = runtime.shutdown(SHORT);
        let names = |list: &[thread::ThreadInfo]| -> Vec<String> {
            list.iter().map(|info| info.name.to_string()).collect()
        };
        assert_eq!(names(&report.lending), ["lender"], "{report:?}");
        assert_eq!(names(&report.refused), ["stubborn"], "{report:?}");
        assert_eq!(reads.load(Ordering::SeqCst), 1);
        assert!(!lender.expect("spawned").is_finished());
    }
}

#[test]
fn an_owner_cancelled_inside_its_scope_cancels_its_children_and_waits_for_them() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = runtime(stacks, 2);
        let (counted, drops) = Counted::new();
        let begun = Arc::new(AtomicUsize::new(0));
        let begins = Arc::clone(&begun);
        let owner = runtime.spawn(move || {
            let alive = AtomicUsize::new(0);
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                thread::scope(|s| {
                    for _ in 0..10 {
                        let counted = counted.clone();
                        let (alive, begins) = (&alive, &begins);
                        s.spawn(move || {
                            let _counted = counted;
                            alive.fetch_add(1, Ordering::SeqCst);
                            begins.fetch_add(1, Ordering::SeqCst);
                            struct Leaves<'a>(&'a AtomicUsize);
                            impl Drop for Leaves<'_> {
                                fn drop(&mut self) {
                                    self.0.fetch_sub(1, Ordering::SeqCst);
                                }
                            }
                            let _leaves = Leaves(alive);
                            loop {
                                thread::park();
                            }
                        });
                    }
                    loop {
                        thread::park();
                    }
                })
            }));
            assert_eq!(
                alive.load(Ordering::SeqCst),
                0,
                "all children have ended before the owner goes on"
            );
            let Err(payload) = outcome;
            std::panic::resume_unwind(payload);
        });
        while begun.load(Ordering::SeqCst) < 10 {
            std::thread::yield_now();
        }
        let report = runtime.shutdown(SHORT);
        let mut drops_seen = drops.load(Ordering::SeqCst);
        while drops_seen < 10 {
            std::thread::yield_now();
            drops_seen = drops.load(Ordering::SeqCst);
        }
        assert!(owner.join().is_err(), "cancelled: {report:?}");
    }
}

#[test]
fn a_shutdown_from_inside_does_not_wait_for_its_caller_and_can_be_repeated() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = runtime(stacks, 1);
        let inner = runtime.clone();
        let caller = runtime.spawn(move || {
            let endless = inner.spawn(|| {
                loop {
                    thread::park();
                }
            });
            let report = inner.shutdown(SHORT);
            let refused = Builder::new()
                .spawn_in(&inner, || ())
                .expect_err("it is shut down");
            assert!(matches!(refused, SpawnError::ShutDown), "{refused}");
            (report.cancelled.len(), endless.join().is_err())
        });
        assert_eq!(caller.join().expect("no panic"), (1, true));
        let report = runtime.shutdown(SHORT);
        assert!(
            report.is_complete() && report.cancelled.is_empty(),
            "{report:?}"
        );
    }
}

#[test]
fn a_panicking_destructor_of_a_result_hurts_nobody() {
    let _deadline = Deadline::standard();
    struct Faulty;
    impl Drop for Faulty {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new("in a destructor"));
        }
    }
    for stacks in BACKENDS {
        let runtime = runtime(stacks, 1);
        let gate = Gate::new();
        let passes = gate.clone();
        // Without a joiner it is dropped by its own thread.
        drop(runtime.spawn(move || {
            passes.pass();
            Faulty
        }));
        gate.open();
        assert_eq!(runtime.run(|| 1), 1);
        assert!(runtime.shutdown(LONG).is_complete());
    }
}

#[test]
fn a_shutdown_ends_with_the_last_thread_however_long_it_might_take() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        for round in 0..400 {
            let runtime = runtime(stacks, 2);
            // All end at about the same time: a shutdown that looks before the last one is marked as ended, and not
            // again, waits for ever.
            for _ in 0..1 + round % 4 {
                drop(runtime.spawn(thread::yield_now));
            }
            let report = runtime.shutdown(Duration::MAX);
            assert!(report.is_complete(), "{stacks:?}: {report:?}");
        }
    }
}
