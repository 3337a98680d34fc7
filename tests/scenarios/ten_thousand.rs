//! Ten thousand calls of a second each: a virtual thread for each against a pool of 200 OS threads.

use std::time::{Duration, Instant};

use vt_runtime::{Runtime, thread};

use crate::pool_of_ten::on_a_pool;
use crate::{Outcome, Scenario, Size};

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "ten-thousand",
    published: "JEP 444: a pool of 200 does 200 tasks a second, virtual threads about 10,000; tokio 1.007 s, Go 1.021 s, JDK 25 \
                1.077 s, may 1.184 s, a pool of 200 OS threads 50.02 s (quiet two-core machine)",
    run,
};

fn run(size: Size) -> Outcome {
    let (calls, lasts, pool) = size.pick(
        (2_000, Duration::from_millis(50), 200),
        (10_000, Duration::from_secs(1), 200),
    );
    let start = Instant::now();
    let done = Runtime::global().run(|| {
        let handles: Vec<_> = (0..calls)
            .map(|_| thread::spawn(move || thread::sleep(lasts)))
            .collect();
        handles
            .into_iter()
            .map(thread::JoinHandle::join)
            .filter(Result::is_ok)
            .count()
    });
    let virtual_threads = start.elapsed();
    if done != calls || virtual_threads < lasts {
        return Err(format!("{done} of {calls} calls ended after {virtual_threads:?}").into());
    }
    let pooled = on_a_pool(pool, calls, lasts)?;
    Ok(format!(
        "{calls} calls of {lasts:?}: a virtual thread each {:.3} s ({:.0} calls/s), a pool of {pool} OS threads {:.2} s ({:.0}/s)",
        virtual_threads.as_secs_f64(),
        calls as f64 / virtual_threads.as_secs_f64(),
        pooled.as_secs_f64(),
        calls as f64 / pooled.as_secs_f64(),
    ))
}
