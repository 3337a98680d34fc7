//! The thread race: 100,000 threads that sleep, all alive at once.

use std::time::{Duration, Instant};

use vt_runtime::{Runtime, thread};

use crate::load::Usage;
use crate::{Outcome, Scenario, Size};

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "race",
    published: "100,000 x 10 s, created and done in: tokio 56 ms, 10.07 s, 45 MiB; Go 221 ms, 10.22 s, 270 MiB; JDK 25 183 ms, \
                10.90 s, 151 MiB; may panics at 32,750; OS threads fail at 16,368 (quiet two-core machine)",
    run,
};

fn run(size: Size) -> Outcome {
    let (threads, sleep) = size.pick(
        (10_000, Duration::from_millis(500)),
        (100_000, Duration::from_secs(10)),
    );
    let runtime = Runtime::global();
    let start = Instant::now();
    let (created, usage, woken) = runtime.run(|| {
        let handles: Vec<_> = (0..threads)
            .map(|number| {
                thread::spawn(move || {
                    thread::sleep(sleep);
                    number
                })
            })
            .collect();
        let created = start.elapsed();
        thread::sleep(sleep / 2);
        let usage = Usage::of(std::process::id());
        let mut woken = 0;
        for (number, handle) in handles.into_iter().enumerate() {
            woken += usize::from(handle.join().is_ok_and(|answer| answer == number));
        }
        (created, usage, woken)
    });
    let elapsed = start.elapsed();
    if woken != threads || elapsed < sleep {
        return Err(format!("{woken} of {threads} woke after {elapsed:?}").into());
    }
    Ok(format!(
        "{threads} threads sleep {sleep:?}: created in {:.0} ms, all done in {:.2} s, {} MiB, {} OS threads",
        created.as_secs_f64() * 1e3,
        elapsed.as_secs_f64(),
        usage.rss_kib / 1024,
        usage.threads,
    ))
}
