//! Parks as they are recorded: each lasts until its thread runs again, though a carrier looks at the clock once for the
//! thread that leaves and the one that comes.

#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use scene::{LIMIT, each, within};
use vt_flight_recorder::{FlightRecorder, Settings};
use vt_runtime::{Runtime, thread};

const LONG: Duration = Duration::from_millis(5);

/// Keeps the carrier without a wait.
fn compute() {
    let begin = Instant::now();
    while begin.elapsed() < LONG {
        std::hint::spin_loop();
    }
}

/// Parks until it is told to go on, by whoever computes before.
fn sleeper() -> thread::JoinHandle<()> {
    let runs = Arc::new(AtomicBool::new(false));
    let tells = Arc::clone(&runs);
    let sleeper = thread::Builder::new().name("sleeper".to_owned());
    let sleeper = sleeper.spawn(move || {
        tells.store(true, Ordering::Relaxed);
        thread::park();
    });
    // They share a carrier: who has begun has come to its park before this one runs again.
    while !runs.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    sleeper.expect("it starts")
}

#[test]
fn a_park_lasts_until_its_thread_runs_again() {
    within(LIMIT, || {
        let runtime = Runtime::builder().carriers(1).max_carriers(1).build();
        let runtime = runtime.expect("a runtime of one carrier");
        let builder = FlightRecorder::builder().runtime(&runtime);
        let (_layer, recorder) = builder
            .settings(Settings::test())
            .install()
            .expect("it starts");
        let begin = Instant::now();
        runtime.run(|| {
            // Who computes then leaves without a wait, by yielding;
            let first = sleeper();
            compute();
            first.thread().unpark();
            thread::yield_now();
            first.join().expect("it does not panic");
            // by ending;
            let second = sleeper();
            let handle = second.thread().clone();
            let ends = thread::spawn(move || {
                compute();
                handle.unpark();
            });
            second.join().expect("it does not panic");
            ends.join().expect("it does not panic");
            // or by a wait of its own, which begins when that of the other ends.
            let third = sleeper();
            compute();
            third.thread().unpark();
            third.join().expect("it does not panic");
        });
        let took = begin.elapsed();
        let bytes = recorder.dump_to(Vec::new(), None);
        let mut parked: BTreeMap<i64, i64> = BTreeMap::new();
        each(&bytes.expect("a vector takes every byte"), |event| {
            let thread = event.thread("eventThread").unwrap_or_default();
            if event.name() == "jdk.ThreadPark" && thread.name == "sleeper" {
                *parked.entry(thread.id).or_default() += event.duration_ns();
            }
        });
        assert_eq!(parked.len(), 3, "{parked:?}");
        for length in parked.values() {
            let length = Duration::from_nanos(length.unsigned_abs());
            assert!(LONG <= length && length <= took, "{length:?} of {took:?}");
        }
    });
}
