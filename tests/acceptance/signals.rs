//! A profiler and a library that takes faults share the process with the detector: none disturbs the others.

use std::process::Command;
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

/// `perf` samples the test above, each time with the stack.
#[test]
fn a_recording_of_perf_and_the_detector_do_not_disturb_each_other() {
    let _deadline = Deadline::standard();
    let folder = tempfile::tempdir().expect("a folder");
    let recording = folder.path().join("perf.data");
    let recorded = Command::new("perf")
        .args(["record", "-F", "499", "-g", "-e", "cpu-clock", "-o"])
        .arg(&recording)
        .arg(std::env::current_exe().expect("a path"))
        .args([
            "signals_of_others_and_stacks_of_pins_do_not_disturb_each_other",
            "--exact",
        ])
        .output();
    let Ok(recorded) = recorded else {
        println!("skipped: perf is not installed");
        return;
    };
    let told = String::from_utf8_lossy(&recorded.stdout);
    let errors = String::from_utf8_lossy(&recorded.stderr);
    if !told.contains("running 1 test") {
        println!("skipped: perf may not record here: {errors}");
        return;
    }
    assert!(told.contains("1 passed"), "{told}{errors}");
    let size = std::fs::metadata(&recording).map_or(0, |found| found.len());
    assert!(size > 1000, "{size} bytes recorded: {errors}");
}
