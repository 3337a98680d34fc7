//! What does the detector cost? Run by `.ci/detector-overhead`, which builds this twice, once with the detector compiled to
//! nothing (`--cfg vt_detector_off`), and runs the two in turn.
//!
//! Without arguments prints one line for each case: its name and the median of its rounds in nanoseconds an operation (for
//! the watchdog: the part of a core in thousandths). With a case's name runs only that, a fixed number of times, for counting
//! instructions.

use std::hint::black_box;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::sync::{Mutex, ReentrantLock};
use vt_runtime::{Runtime, pinned, thread};

/// Rounds of each case.
const ROUNDS: usize = 31;
/// A wait that has passed before it begins.
const MOMENT: Duration = Duration::from_nanos(1);

type Case = (&'static str, fn(&Runtime, u32) -> Duration, u32);

/// Nobody pins in the first three; the last two pin at each operation.
const CASES: [Case; 4] = [
    ("lock", locks, 20_000),
    ("yield", yields, 10_000),
    ("echo", echoes, 1_000),
    ("pin", pins, 2_000),
];

fn runtime(threshold: Duration) -> Runtime {
    let builder = Runtime::builder().carriers(1).max_carriers(1);
    builder
        .pin_threshold(threshold)
        .build()
        .expect("a carrier starts")
}

/// Two threads of one carrier take two uncontended locks in turn.
fn locks(runtime: &Runtime, operations: u32) -> Duration {
    runtime.run(move || {
        let (mutex, reentrant) = (Mutex::new(0u32), ReentrantLock::new(0u32));
        let start = Instant::now();
        for _ in 0..operations {
            *mutex.lock().expect("not poisoned") += 1;
            black_box(*reentrant.lock());
        }
        start.elapsed()
    })
}

fn yields(runtime: &Runtime, operations: u32) -> Duration {
    runtime.run(move || {
        let other = thread::spawn(move || (0..operations).for_each(|_| thread::yield_now()));
        let start = Instant::now();
        (0..operations).for_each(|_| thread::yield_now());
        let took = start.elapsed();
        other.join().expect("no panic");
        took
    })
}

/// One byte there and back over loopback.
fn echoes(runtime: &Runtime, operations: u32) -> Duration {
    runtime.run(move || {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let echo = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody connects");
            let mut byte = [0];
            while stream.read(&mut byte).is_ok_and(|count| count == 1) {
                stream.write_all(&byte).expect("it listens");
            }
        });
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        let mut byte = [7];
        let start = Instant::now();
        for _ in 0..operations {
            stream.write_all(&byte).expect("it listens");
            stream.read_exact(&mut byte).expect("it answers");
        }
        let took = start.elapsed();
        drop(stream);
        echo.join().expect("no panic");
        took
    })
}

fn pins(runtime: &Runtime, operations: u32) -> Duration {
    runtime.run(move || {
        let start = Instant::now();
        for _ in 0..operations {
            pinned::critical("bench", || thread::sleep(black_box(MOMENT)));
        }
        start.elapsed()
    })
}

/// The median of the rounds, in nanoseconds an operation.
fn measure(runtime: &Runtime, (name, case, operations): Case, label: &str) {
    let mut nanos: Vec<f64> = (0..ROUNDS)
        .map(|_| case(runtime, operations).as_secs_f64() * 1e9 / f64::from(operations))
        .collect();
    nanos.sort_by(f64::total_cmp);
    println!("{name}{label} {:.2}", nanos[ROUNDS / 2]);
}

/// Thousandths of a core that the watchdog uses while `f` runs; `None` where there is none.
fn of_watchdog(f: impl FnOnce()) -> Option<f64> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?.flatten();
    let named = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "vt-watchdog")
    };
    let watchdog = threads.map(|entry| entry.path()).find(named)?;
    let ran = || -> Option<f64> {
        let text = std::fs::read_to_string(watchdog.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    let (before, begun) = (ran()?, Instant::now());
    f();
    Some(1000.0 * (ran()? - before) / begun.elapsed().as_nanos() as f64)
}

fn watchdog() {
    let runtime = Runtime::builder().carriers(16).max_carriers(16).build();
    let runtime = runtime.expect("carriers start");
    let second = Duration::from_secs(2);
    let idle = of_watchdog(|| std::thread::park_timeout(second));
    let busy = of_watchdog(|| {
        let busy: Vec<_> = (0..16)
            .map(|_| {
                runtime.spawn(move || {
                    let begun = Instant::now();
                    while begun.elapsed() < second {
                        black_box(begun);
                    }
                })
            })
            .collect();
        busy.into_iter()
            .for_each(|thread| thread.join().expect("no panic"));
    });
    if let (Some(idle), Some(busy)) = (idle, busy) {
        println!("watchdog.idle {idle:.3}\nwatchdog.busy {busy:.3}");
    }
}

#[path = "machine/mod.rs"]
mod machine;

fn main() {
    let busy = machine::Busy::now();
    let asked = std::env::args()
        .nth(1)
        .filter(|name| !name.starts_with("--"));
    if let Some(asked) = asked {
        let runtime = runtime(Duration::ZERO);
        for (_, case, operations) in CASES.into_iter().filter(|(name, ..)| *name == asked) {
            black_box(case(&runtime, operations));
        }
        return;
    }
    let (above, below) = (runtime(Duration::ZERO), runtime(Duration::from_secs(3600)));
    let [lock, yields, echo, pin] = CASES;
    for case in [lock, yields, echo] {
        measure(&below, case, "");
    }
    measure(&below, pin, ".below");
    measure(&above, pin, ".above");
    watchdog();
    // Not among the figures, which a script reads.
    eprintln!("{}", busy.cores());
}
