//! A hundred calls of half a second: a virtual thread for each against a pool of 10 OS threads.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::{Runtime, thread};

use crate::{Outcome, Scenario, Size};

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "pool-of-ten",
    published: "none for this shape; the bounds are 5 s on ten threads and 0.5 s at once",
    run,
};

const CALLS: usize = 100;

fn run(size: Size) -> Outcome {
    let lasts = size.pick(Duration::from_millis(20), Duration::from_millis(500));
    let start = Instant::now();
    let done = Runtime::global().run(|| {
        let handles: Vec<_> = (0..CALLS)
            .map(|_| thread::spawn(move || thread::sleep(lasts)))
            .collect();
        handles
            .into_iter()
            .map(thread::JoinHandle::join)
            .filter(Result::is_ok)
            .count()
    });
    let virtual_threads = start.elapsed();
    if done != CALLS {
        return Err(format!("{done} of {CALLS} calls ended").into());
    }
    let pooled = on_a_pool(10, CALLS, lasts)?;
    Ok(format!(
        "{CALLS} calls of {lasts:?}: a virtual thread each {:.3} s, a pool of 10 OS threads {:.3} s",
        virtual_threads.as_secs_f64(),
        pooled.as_secs_f64(),
    ))
}

/// How long so many OS threads take for the calls.
pub(crate) fn on_a_pool(threads: usize, calls: usize, lasts: Duration) -> io::Result<Duration> {
    let start = Instant::now();
    let taken = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let work = || {
                while taken.fetch_add(1, Ordering::Relaxed) < calls {
                    // Nothing unparks it; the loop is for wake-ups without a reason.
                    let end = Instant::now() + lasts;
                    while Instant::now() < end {
                        std::thread::park_timeout(end.saturating_duration_since(Instant::now()));
                    }
                }
            };
            std::thread::Builder::new()
                .name("pool".to_owned())
                .stack_size(64 * 1024)
                .spawn_scoped(scope, work)?;
        }
        Ok::<_, io::Error>(())
    })?;
    Ok(start.elapsed())
}
