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

#[test]
fn a_throttle_leaves_out_parks_and_starts_and_says_how_many() {
    within(LIMIT, || {
        let runtime = Runtime::builder().carriers(1).max_carriers(1).build();
        let runtime = runtime.expect("a runtime of one carrier");
        let mut settings = Settings::test();
        settings.throttle = Some(0);
        let builder = FlightRecorder::builder().runtime(&runtime);
        let installed = builder.settings(settings.clone()).install();
        let (_layer, recorder) = installed.expect("it starts");
        let park = || {
            runtime.run(|| {
                let threads: Vec<_> = (0..100)
                    .map(|_| thread::spawn(|| thread::sleep(Duration::from_nanos(1))))
                    .collect();
                threads
                    .into_iter()
                    .for_each(|thread| thread.join().expect("no panic"));
            });
        };
        // Parks, starts and ends; settings and losses.
        let counted = || {
            let bytes = recorder.dump_to(Vec::new(), None);
            let (mut seen, mut set, mut left_out) = ([0_u64; 3], Vec::new(), [0; 2]);
            each(&bytes.expect("a vector takes every byte"), |event| {
                let text = |name| event.text(name).unwrap_or_default();
                match event.name() {
                    "jdk.ThreadPark" => seen[0] += 1,
                    "jdk.VirtualThreadStart" => seen[1] += 1,
                    "jdk.VirtualThreadEnd" => seen[2] += 1,
                    "jdk.ActiveSetting" if text("name") == "throttle" => set.push(text("value")),
                    "vt.EventsDropped" if text("place") == "throttle" => {
                        let class = usize::from(text("class") == "lifetimes");
                        left_out[class] += event.integer("count").unwrap_or(0);
                    }
                    _ => {}
                }
            });
            (seen, set, left_out)
        };
        park();
        let (seen, set, left_out) = counted();
        assert_eq!((seen, set), ([0; 3], vec!["0/s".to_owned(); 3]));
        // A thread each for the sleepers and for `run`, with a start and an end.
        assert!(left_out[0] >= 100 && left_out[1] == 202, "{left_out:?}");
        settings.throttle = None;
        recorder.set(settings);
        park();
        let (seen, set, same) = counted();
        assert_eq!(set, ["off", "off", "off"]);
        assert!(seen[0] >= 100, "{seen:?}");
        assert_eq!(seen[1..], [101, 101]);
        assert_eq!(same[1], left_out[1]);
    });
}
