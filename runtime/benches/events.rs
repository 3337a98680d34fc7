//! What does recording cost the carrier? `cargo bench -p vt-runtime --bench events`
//!
//! The cases take turns, so that whatever else the machine does falls on all of them alike; the best and
//! the median of many short rounds are shown, in nanoseconds an operation. Compare within a group:
//! - a pinned wait that is over at once: below the threshold, recorded with its stack, recorded while a
//!   reader follows;
//! - a round trip of two threads (two parks, two unparks): nobody asks, recorded for a reader.

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
    nanos: Vec<u128>,
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

fn compare(group: &str, mut cases: Vec<Case<'_>>) {
    for _ in 0..ROUNDS {
        for case in &mut cases {
            case.nanos
                .push((case.round)().as_nanos() / u128::from(OPERATIONS));
        }
    }
    println!("{group}");
    for case in &mut cases {
        case.nanos.sort_unstable();
        println!(
            "  {:<34} best {:>6}  median {:>6}",
            case.name,
            case.nanos[0],
            case.nanos[ROUNDS / 2]
        );
    }
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

fn main() {
    let (quiet, telling, followed) = (
        runtime(Duration::from_secs(1)),
        runtime(Duration::ZERO),
        runtime(Duration::ZERO),
    );
    // Not drained: that is the reader's own cost, on its own thread.
    let _reader = followed.event_reader();
    compare(
        "pinned wait",
        vec![
            Case::new("below the threshold", || pinned_waits(&quiet)),
            Case::new("recorded with stack", || pinned_waits(&telling)),
            Case::new("recorded, a reader follows", || pinned_waits(&followed)),
        ],
    );
    compare(
        "park and unpark, there and back",
        vec![
            Case::new("nobody asks", || round_trips(&quiet)),
            Case::new("recorded for a reader", || round_trips(&followed)),
        ],
    );
}
