//! A profiler and a library that takes faults share the process with the detector: none disturbs the others.

use std::time::{Duration, Instant};

use vt_runtime::sync::Monitor;
use vt_runtime::thread;
use vt_tests::{BACKENDS, Deadline, foreign, line_of, runtime};

const ROUNDS: usize = 40;
const THREADS: usize = 4;

/// Computes for a while, so that the profiler ticks, then waits pinned; returns the line of the wait.
fn compute_and_pin() -> u32 {
    let monitor = Monitor::named("profiled", 0u64);
    for round in 0..ROUNDS {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(2) {
            std::hint::black_box(round);
        }
        assert!(foreign::fault(), "the foreign handler gets its fault");
        let guard = monitor.enter();
        thread::sleep(Duration::from_micros(300));
        drop(guard);
    }
    line!() - 3
}

#[test]
fn signals_of_others_and_stacks_of_pins_do_not_disturb_each_other() {
    let _deadline = Deadline::standard();
    // In front of whatever was there; the runtime's own handler comes in front of it.
    foreign::take_faults();
    foreign::profile(500);
    for stacks in BACKENDS {
        let before = foreign::ticks();
        let (runtime, capture) = runtime(stacks, 2);
        let threads: Vec<_> = (0..THREADS)
            .map(|_| runtime.spawn(compute_and_pin))
            .collect();
        let lines: Vec<u32> = threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect();
        let pins = capture.pinned(&runtime);
        let waits: Vec<_> = pins
            .iter()
            .filter(|pin| pin.lock.as_deref() == Some("profiled"))
            .collect();
        assert_eq!(waits.len(), ROUNDS * THREADS);
        for pin in waits {
            assert_eq!(line_of(pin.blocked_at.as_ref()), lines[0]);
            assert!(!pin.stack.is_empty(), "{pin:?}");
        }
        assert!(foreign::ticks() > before, "the profiler ran");
    }
    // And from a plain OS thread, with no runtime on its stack.
    assert!(foreign::fault());
}
