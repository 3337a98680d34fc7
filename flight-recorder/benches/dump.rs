//! What do a dump of 100,000 pins and the reading of a large file cost?
//!
//! `cargo bench -p vt-flight-recorder --bench dump` prints the best of five; the targets are 150 ms and
//! 5 MB for the dump, 200 MB/s and 300 MB of memory for the reading. `VT_BENCH_MB=1000` makes the file as large as
//! the target says; 100 MB is the default. `VT_BENCH_KEEP=FILE` leaves it there, for `vt-flight` to be timed with.
//!
//! Three dumps: what the writer alone takes for pins of as many threads, without names and with one for each; and a
//! recorder's dump to a file, of pins that 100,000 threads of a runtime made.

use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;
use vt_flight_recorder::{FlightRecorder, InProcess, Pin, Reader, Settings, Span, Writer};
use vt_runtime::event::{
    Event, Operation, PinReason, PinSource, Pinned, Place, Recorded, ThreadRef, Timestamp,
    WaitOutcome,
};
use vt_runtime::{Runtime, pinned, thread};

const PINS: u64 = 100_000;

fn pin(at: u64, name: &str) -> Recorded {
    let text = |text: &str| Some(Arc::from(text));
    let place = |file: &str, line| {
        Some(Place {
            file: file.into(),
            line,
            column: 9,
        })
    };
    // Stacks of 24 frames out of a few dozen, as a program with some pin sites has them.
    let code = main as fn() as usize as u64;
    let stack = (0..24).map(|frame| code + frame * 16 + at % 40).collect();
    let event = Event::VirtualThreadPinned(Pinned {
        thread: ThreadRef {
            id: at,
            name: format!("{name}-{}", at - 1).into(),
        },
        carrier: at % 2,
        span: None,
        reason: PinReason::Monitor,
        operation: Operation::Sleep,
        start: Timestamp(at * 1_000),
        duration: Duration::from_micros(20_000 + at % 1_000),
        pinned_at: place("shop/src/orders.rs", 75),
        blocked_at: place("shop/src/payment.rs", 42),
        lock: text("orders"),
        waits_for: None,
        waits_owner: None,
        native: None,
        depth: 1,
        stranded: (at % 7) as u32,
        stranded_time: Duration::from_micros(at % 50_000),
        outcome: WaitOutcome::Done,
        source: PinSource::Wait,
        stack,
    });
    Recorded {
        at: Timestamp(at * 1_000 + 20_000_000),
        event,
    }
}

fn write(pins: &[Recorded]) -> Vec<u8> {
    let writer = Writer::new(Vec::new(), InProcess::default());
    let mut chunk = writer.chunk(Span::new(0, 0, 1));
    pins.iter().for_each(|pin| chunk.push(pin));
    let written = chunk.finish(true).and_then(Writer::finish);
    written.expect("a vector takes every byte")
}

/// A recording of at least `megabytes` in as many chunks as it takes.
fn write_large(pins: &[Recorded], megabytes: u64) -> NamedTempFile {
    let file = NamedTempFile::new().expect("a temporary file");
    let length = || file.as_file().metadata().map_or(0, |about| about.len());
    let mut writer = Writer::new(BufWriter::new(file.as_file()), InProcess::default());
    let mut is_last = false;
    while !is_last {
        is_last = length() + 5_000_000 >= megabytes * 1_000_000;
        let mut chunk = writer.chunk(Span::new(0, 0, 1));
        pins.iter().for_each(|pin| chunk.push(pin));
        writer = chunk.finish(is_last).expect("there is room");
    }
    writer.finish().expect("there is room");
    file
}

/// A recorder that holds as many pins as this runtime could make and it could take, each of a thread of its own.
fn recorded() -> (Runtime, FlightRecorder) {
    let builder = Runtime::builder().carriers(2).event_capacity(16_384);
    let runtime = builder.build().expect("a runtime of two carriers");
    let builder = FlightRecorder::builder().runtime(&runtime);
    let mut only_pins = Settings::test();
    (only_pins.parks, only_pins.lifetimes) = (false, false);
    let (_, recorder) = builder
        .settings(only_pins)
        .max_size(64 << 20)
        .install()
        .expect("it starts");
    runtime.run(|| {
        for _ in 0..PINS / 1_000 {
            thread::scope(|scope| {
                for _ in 0..1_000 {
                    scope.spawn(|| {
                        pinned::critical("bench", || thread::sleep(Duration::from_nanos(1)));
                    });
                }
            });
        }
    });
    (runtime, recorder)
}

/// Reads every event of a file; `visit` says how much of each.
fn read(file: &Path, mut visit: impl FnMut(&vt_flight_recorder::Event<'_>)) {
    let mut reader = Reader::open(file).expect("a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        chunk.each(&mut visit).expect("readable");
    }
}

/// The most memory this process has had, in MB, where the system tells.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kilobytes.unwrap_or(0_u64) / 1_000
}

fn best<T>(mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut best: Option<(Duration, T)> = None;
    for _ in 0..5 {
        let begin = Instant::now();
        let value = run();
        let took = begin.elapsed();
        if best.as_ref().is_none_or(|(known, _)| took < *known) {
            best = Some((took, value));
        }
    }
    best.unwrap_or_else(|| unreachable!("it ran five times"))
}

fn dump() {
    let (_runtime, recorder) = recorded();
    let file = NamedTempFile::new().expect("a temporary file");
    // The first one loads the debug information.
    let begin = Instant::now();
    recorder.dump(file.path()).expect("there is room");
    let first = begin.elapsed();
    let (took, ()) = best(|| recorder.dump(file.path()).expect("there is room"));
    let size = std::fs::metadata(file.path()).map_or(0, |about| about.len());
    let mut pins = 0;
    read(file.path(), |event| {
        pins += u64::from(event.name() == "jdk.VirtualThreadPinned");
    });
    let megabytes = size as f64 / 1e6;
    println!("a recorder's dump of {pins} pins: {took:?} (the first {first:?}), {megabytes:.2} MB");
}

fn main() {
    // Names of one form are what threads have that were given none.
    let [pins, named] =
        ["vt", "payment"].map(|name| -> Vec<_> { (1..=PINS).map(|at| pin(at, name)).collect() });
    for (what, pins) in [("without names", &pins), ("with names", &named)] {
        let (took, file) = best(|| write(pins));
        let megabytes = file.len() as f64 / 1e6;
        println!("writing {PINS} pins of threads {what}: {took:?}, {megabytes:.2} MB");
    }
    drop(named);
    dump();

    let megabytes = std::env::var("VT_BENCH_MB").ok();
    let megabytes = megabytes.and_then(|text| text.parse().ok()).unwrap_or(100);
    let before = most_memory();
    let large = write_large(&pins, megabytes);
    drop(pins);
    let (mut events, mut total) = (0_u64, 0_i64);
    let (walked, ()) = best(|| read(large.path(), |event| events += u64::from(event.size() > 0)));
    let (decoded, ()) = best(|| {
        read(large.path(), |event| {
            total += Pin::of(event).map_or(0, |pin| pin.duration_ns);
        });
    });
    let (summed, ()) = best(|| {
        read(large.path(), |event| {
            total += Pin::of_anybody(event).map_or(0, |pin| pin.duration_ns);
        });
    });
    let size = large.as_file().metadata().map_or(0, |about| about.len()) as f64 / 1e6;
    let rows = [
        ("walking", walked),
        ("decoding every pin of", decoded),
        ("decoding them but for who waited,", summed),
    ];
    for (what, took) in rows {
        let speed = size / took.as_secs_f64();
        println!("{what} {size:.0} MB: {took:?}, {speed:.0} MB/s");
    }
    println!(
        "{} events in all, {total} ns; memory at most {} MB ({before} MB before the file was written)",
        events,
        most_memory()
    );
    if let Some(path) = std::env::var_os("VT_BENCH_KEEP") {
        large.persist(path).expect("it can be kept there");
    }
}
