//! Deadlines: never early, without drift, and very many at one moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::{Runtime, thread};
use vt_tests::{BACKENDS, Deadline};

#[test]
fn deadlines_do_not_drift_and_are_never_early() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(1).build();
        let runtime = runtime.expect("a carrier starts");
        runtime.run(|| {
            let (start, tick) = (Instant::now(), Duration::from_millis(2));
            let mut late = 0;
            for number in 1..=100 {
                let due = start + tick * number;
                thread::sleep_until(due);
                let now = Instant::now();
                assert!(now >= due, "{:?} early", due - now);
                late += u32::from(now > due + Duration::from_secs(5));
            }
            assert_eq!(late, 0, "ticks that came late do not add up");
        });
    }
}

#[test]
fn very_many_at_one_moment_all_end_and_let_others_run() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(2).build();
        let runtime = runtime.expect("carriers start");
        let due = Instant::now() + Duration::from_millis(300);
        let woken = Arc::new(AtomicUsize::new(0));
        let sleepers: Vec<_> = (0..5000)
            .map(|_| {
                let woken = Arc::clone(&woken);
                runtime.spawn(move || {
                    thread::sleep_until(due);
                    woken.fetch_add(1, Ordering::SeqCst);
                    Instant::now() >= due
                })
            })
            .collect();
        for sleeper in sleepers {
            assert!(sleeper.join().expect("no panic"), "none is early");
        }
        assert_eq!(woken.load(Ordering::SeqCst), 5000);
    }
}
