//! The core through its public API, on both backends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::Runtime;
use crate::event::{self, CarrierState, Event, PinReason, PinSource};
use crate::{Stacks, pinned, thread};

fn on_both(carriers: usize, test: impl Fn(&Runtime)) {
    for stacks in [Stacks::Dense, Stacks::Generator] {
        let runtime = Runtime::builder()
            .stacks(stacks)
            .carriers(carriers)
            .pin_threshold(Duration::ZERO)
            .build()
            .expect("two carriers");
        test(&runtime);
    }
}

#[test]
fn threads_return_their_results() {
    on_both(2, |runtime| {
        let handles: Vec<_> = (0..1000).map(|n| runtime.spawn(move || n)).collect();
        let sum: usize = handles
            .into_iter()
            .map(|handle| handle.join().expect("no panic"))
            .sum();
        assert_eq!(sum, 499_500);
    });
}

#[test]
fn a_panic_is_the_result_of_join_and_touches_nobody_else() {
    on_both(1, |runtime| {
        let failing = runtime.spawn(|| panic!("on purpose"));
        let other = runtime.spawn(|| 5);
        let payload = failing.join().expect_err("it panicked");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
        assert_eq!(other.join().expect("no panic"), 5);
    });
}

#[test]
fn sleepers_share_one_carrier() {
    on_both(1, |runtime| {
        let start = Instant::now();
        let handles: Vec<_> = (0..50)
            .map(|_| runtime.spawn(|| thread::sleep(Duration::from_millis(50))))
            .collect();
        handles
            .into_iter()
            .for_each(|handle| handle.join().expect("no panic"));
        assert!(start.elapsed() >= Duration::from_millis(50));
        assert!(start.elapsed() < Duration::from_millis(1500));
    });
}

#[test]
fn an_unpark_before_the_park_is_kept() {
    on_both(1, |runtime| {
        let handle = runtime.spawn(|| {
            thread::current().unpark();
            thread::park();
        });
        handle.join().expect("no panic");
        let parked = runtime.spawn(thread::park);
        parked.thread().unpark();
        parked.join().expect("no panic");
    });
}

#[test]
fn a_thread_stays_on_its_carrier_for_life() {
    on_both(2, |runtime| {
        let handles: Vec<_> = (0..100)
            .map(|_| {
                runtime.spawn(|| {
                    let home = thread::current_carrier();
                    (0..50).for_each(|_| {
                        thread::yield_now();
                        assert_eq!(thread::current_carrier(), home);
                    });
                })
            })
            .collect();
        handles
            .into_iter()
            .for_each(|handle| handle.join().expect("no panic"));
    });
}

#[test]
fn a_pinned_sleep_keeps_the_carrier_and_is_counted() {
    on_both(1, |runtime| {
        let turns = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&turns);
        let sleeper = runtime.spawn(move || {
            pinned::critical("test", || {
                let before = seen.load(Ordering::SeqCst);
                thread::sleep(Duration::from_millis(30));
                seen.load(Ordering::SeqCst) - before
            })
        });
        let turner = runtime.spawn(move || {
            turns.fetch_add(1, Ordering::SeqCst);
        });
        assert_eq!(sleeper.join().expect("no panic"), 0);
        turner.join().expect("no panic");
        let pins: u64 = runtime.metrics().pinned.iter().map(|pins| pins.count).sum();
        assert_eq!(pins, 1);
    });
}

#[test]
fn scoped_threads_borrow() {
    on_both(2, |runtime| {
        let data = [1, 2, 3];
        let sum = runtime.run(|| {
            thread::scope(|s| {
                let first = s.spawn(|| data[0]);
                let rest = s.spawn(|| data[1] + data[2]);
                first.join().expect("no panic") + rest.join().expect("no panic")
            })
        });
        assert_eq!(sum, 6);
    });
}

#[test]
fn shutdown_cancels_what_waits_and_runs_its_destructors() {
    struct Count(Arc<AtomicUsize>);
    impl Drop for Count {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    on_both(2, |runtime| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..10)
            .map(|_| {
                let count = Count(Arc::clone(&dropped));
                runtime.spawn(move || {
                    let _count = count;
                    loop {
                        thread::park();
                    }
                })
            })
            .collect();
        let report = runtime.shutdown(Duration::from_millis(50));
        assert_eq!(report.cancelled.len(), 10);
        assert!(report.is_complete());
        assert_eq!(dropped.load(Ordering::SeqCst), 10);
        assert!(handles.into_iter().all(|handle| handle.join().is_err()));
    });
}

#[test]
fn interrupts_end_interruptible_sleeps_only() {
    on_both(1, |runtime| {
        let sleeper = runtime.spawn(|| {
            let outcome = thread::sleep_interruptibly(Duration::from_secs(60));
            (outcome, thread::current().is_interrupted())
        });
        sleeper.thread().interrupt();
        let (outcome, flag) = sleeper.join().expect("no panic");
        assert_eq!((outcome, flag), (thread::SleepOutcome::Interrupted, false));
        let parked = runtime.spawn(|| {
            thread::park();
            thread::current().is_interrupted()
        });
        parked.thread().interrupt();
        assert!(parked.join().expect("no panic"));
    });
}

#[test]
fn undeclared_blocking_is_seen_from_outside() {
    let reader = |runtime: &Runtime, wanted: fn(&Event) -> bool| {
        let mut events = runtime.event_reader();
        let mut found = Vec::new();
        let limit = Instant::now() + Duration::from_secs(10);
        while found.is_empty() && Instant::now() < limit {
            events.drain(|recorded| found.extend(Some(recorded.event).filter(wanted)));
            std::thread::yield_now();
        }
        found
    };
    on_both(1, |runtime| {
        let (_open, closed) = std::sync::mpsc::channel::<()>();
        let blocked =
            runtime.spawn(move || closed.recv_timeout(Duration::from_millis(400)).is_err());
        let stranded = runtime.spawn(|| 1);
        let live = reader(runtime, |event| matches!(event, Event::CarrierStalled(_)));
        let [Event::CarrierStalled(stall)] = &live[..] else {
            panic!("no stall: {live:?}")
        };
        assert_eq!(
            (stall.state, stall.native.as_deref()),
            (CarrierState::Blocked, Some("futex"))
        );
        assert!(stall.stranded >= 1);
        assert!(blocked.join().expect("no panic"));
        stranded.join().expect("no panic");
        let ended = reader(runtime, |event| {
            matches!(event, Event::VirtualThreadPinned(_))
        });
        let [Event::VirtualThreadPinned(pin)] = &ended[..] else {
            panic!("no pin: {ended:?}")
        };
        assert_eq!(
            (pin.source, pin.reason),
            (PinSource::Sampled, PinReason::Native)
        );
        assert!(pin.duration >= Duration::from_millis(350), "{pin:?}");
        // With frame pointers the application's own line is found, not that of std's channel.
        if cfg!(target_arch = "x86_64") && pin.stack.len() > 1 {
            let place = event::of_application(&pin.stack);
            assert!(place.is_none_or(|place| !place.file.contains("/library/std/")));
        }
    });
}

#[test]
fn a_joined_panic_is_the_joiners_and_only_others_are_the_scopes() {
    on_both(1, |runtime| {
        let taken = runtime.run(|| {
            thread::scope(|s| {
                s.spawn(|| panic!("on purpose, joined"))
                    .join()
                    .expect_err("it panicked")
            })
        });
        assert_eq!(taken.downcast_ref(), Some(&"on purpose, joined"));
        let left = runtime.spawn(|| {
            thread::scope(|s| {
                s.spawn(|| panic!("on purpose, not joined"));
            });
        });
        let payload = left.join().expect_err("nobody took the panic");
        assert_eq!(payload.downcast_ref(), Some(&"a scoped thread panicked"));
    });
}

/// Panics when dropped.
struct Faulty;

impl Drop for Faulty {
    fn drop(&mut self) {
        panic!("on purpose, in a destructor");
    }
}

#[test]
fn a_thread_cancelled_before_it_began_is_dropped_and_reported_as_cancelled() {
    on_both(1, |runtime| {
        let (begins, begun) = std::sync::mpsc::channel();
        runtime.spawn(move || {
            begins.send(()).expect("the test waits for it");
            pinned::critical("nobody else begins", thread::park);
        });
        begun.recv().expect("it begins");
        let faulty = Faulty;
        let never = runtime.spawn(move || {
            let _faulty = &faulty;
            unreachable!("its runtime shuts down first");
        });
        let id = never.thread().id();
        let report = runtime.shutdown(Duration::ZERO);
        assert!(
            report.cancelled.iter().any(|info| info.id == id),
            "{report:?}"
        );
        never.join().expect_err("it never began");
    });
}

#[test]
fn numbers_and_names_that_make_no_runtime_are_refused() {
    for (builder, complaint) in [
        (Runtime::builder().carriers(0), "at least one carrier"),
        (
            Runtime::builder().carriers(usize::MAX),
            "at most 4096 carriers",
        ),
        (
            Runtime::builder().max_carriers(usize::MAX),
            "at most 4096 carriers",
        ),
        (Runtime::builder().thread_name("a\0b"), "null byte"),
    ] {
        let error = builder.build().expect_err(complaint).to_string();
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn a_runtime_that_has_ended_is_freed() {
    for stacks in [Stacks::Dense, Stacks::Generator] {
        let runtime = Runtime::builder().stacks(stacks).carriers(2).build();
        let runtime = runtime.expect("two carriers");
        let freed = Arc::downgrade(runtime.shared());
        // Contended, so that wake-ones are offered; and one thread with a join, a timer and an interrupt.
        let lock = Arc::new(crate::sync::ReentrantLock::new(()));
        let threads: Vec<_> = (0..50)
            .map(|_| {
                let lock = Arc::clone(&lock);
                runtime.spawn(move || {
                    let _guard = lock.lock();
                    thread::sleep(Duration::from_micros(10));
                })
            })
            .collect();
        let joiner = runtime.spawn(move || threads.into_iter().all(|thread| thread.join().is_ok()));
        assert!(joiner.join().expect("no panic"));
        drop(runtime);
        let limit = Instant::now() + Duration::from_secs(30);
        while freed.strong_count() > 0 {
            assert!(Instant::now() < limit, "{stacks}: somebody keeps it");
            std::thread::yield_now();
        }
    }
}
