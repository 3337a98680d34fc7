//! What does recording cost the carrier? `cargo bench -p vt-runtime --bench events`
//!
//! The cases take turns, so that whatever else the machine does falls on all of them alike; the best and
//! the median of many short rounds are shown, in nanoseconds an operation. Compare within a group:
//! - a pinned wait that is over at once: below the threshold, recorded with its stack, recorded while a
//!   reader follows;
//! - a round trip of two threads (two parks, two unparks): nobody asks, recorded for a reader.
//!
//! The last lines set what recording adds against its budget: medians of the differences within a turn. What the detector
//! costs a pinned wait below the threshold can only be told from a build without it: `.ci/detector-overhead`, `pin.below`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use vt_runtime::{Runtime, pinned, thread};

/// Rounds of each case.
const ROUNDS: usize = 60;

/// Operations in a round.
const OPERATIONS: u32 = 2_000;

/// A wait that has passed before it begins.
const MOMENT: Duration = Duration::from_nanos(1);

/// One thing to measure: a name, and a round that tells how long it took.
struct Case<'a> {
    name: &'static str,
    round: Box<dyn Fn() -> Duration + 'a>,
    /// Of one operation, by round.
    nanos: Vec<f64>,
}

impl<'a> Case<'a> {
    fn new(name: &'static str, round: impl Fn() -> Duration + 'a) -> Self {
        Self {
            name,
            round: Box::new(round),
            nanos: Vec::new(),
        }
    }
}

fn sorted(mut nanos: Vec<f64>) -> Vec<f64> {
    nanos.sort_by(f64::total_cmp);
    nanos
}

fn compare<'a>(group: &str, mut cases: Vec<Case<'a>>) -> Vec<Case<'a>> {
    for _ in 0..ROUNDS {
        for case in &mut cases {
            let took = (case.round)().as_nanos() as f64;
            case.nanos.push(took / f64::from(OPERATIONS));
        }
    }
    println!("{group}");
    for case in &cases {
        let nanos = sorted(case.nanos.clone());
        let (best, median) = (nanos[0], nanos[ROUNDS / 2]);
        println!("  {:<34} best {best:>6.0}  median {median:>6.0}", case.name);
    }
    cases
}

/// What the second case adds to the first, for each of the `records` that it tells of in an operation.
fn added(what: &str, cases: [&Case<'_>; 2], records: f64, budget: u32) {
    let [without, with] = cases;
    let turns = without.nanos.iter().zip(&with.nanos);
    let differences = sorted(
        turns
            .map(|(without, with)| (with - without) / records)
            .collect(),
    );
    let median = differences[ROUNDS / 2];
    println!("  {what:<34} {median:>6.1} ns, at most {budget}");
}

fn runtime(threshold: Duration) -> Runtime {
    let builder = Runtime::builder()
        .carriers(1)
        .max_carriers(1)
        .pin_threshold(threshold);
    builder.build().expect("a carrier starts")
}

fn pinned_waits(runtime: &Runtime) -> Duration {
    runtime.run(|| {
        let start = Instant::now();
        for _ in 0..OPERATIONS {
            pinned::critical("bench", || thread::sleep(black_box(MOMENT)));
        }
        start.elapsed()
    })
}

/// Two virtual threads of one carrier wake each other in turn.
fn round_trips(runtime: &Runtime) -> Duration {
    runtime.run(|| {
        let here = thread::current();
        let echo = thread::spawn(move || {
            for _ in 0..OPERATIONS {
                thread::park();
                here.unpark();
            }
        });
        let start = Instant::now();
        for _ in 0..OPERATIONS {
            echo.thread().unpark();
            thread::park();
        }
        let took = start.elapsed();
        echo.join().expect("no panic");
        took
    })
}

#[path = "machine/mod.rs"]
mod machine;

fn main() {
    let busy = machine::Busy::now();
    let (quiet, telling, followed) = (
        runtime(Duration::from_secs(1)),
        runtime(Duration::ZERO),
        runtime(Duration::ZERO),
    );
    // Not drained: that is the reader's own cost, on its own thread.
    let _reader = followed.event_reader();
    let pins = compare(
        "pinned wait",
        vec![
            Case::new("below the threshold", || pinned_waits(&quiet)),
            Case::new("recorded with stack", || pinned_waits(&telling)),
            Case::new("recorded, a reader follows", || pinned_waits(&followed)),
        ],
    );
    let parks = compare(
        "park and unpark, there and back",
        vec![
            Case::new("nobody asks", || round_trips(&quiet)),
            Case::new("recorded for a reader", || round_trips(&followed)),
        ],
    );
    println!("what recording adds");
    added("a pin with its stack", [&pins[0], &pins[1]], 1.0, 200);
    // A round trip has two of each.
    added("a park or an unpark", [&parks[0], &parks[1]], 4.0, 20);
    println!("{}", busy.cores());
}
