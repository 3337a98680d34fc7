//! Users come in stages, 0 → 50 → 100 → 200, and each request waits 100 ms for I/O: virtual threads against a pool of 50.

use std::time::Duration;

use crate::contestant::Contestant;
use crate::load::{PLAIN, Pace, Stage};
use crate::{Outcome, Scenario, Size, whole};

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "ramp",
    published: "200 users x 100 ms: JDK 25 1,991/s with p99 103 ms and 54 MiB, Go 1,981/s, tokio 1,971/s; a pool of 50 OS threads \
                498/s with p50 401 ms (quiet two-core machine)",
    run,
};

fn run(size: Size) -> Outcome {
    let (delay, scale) = size.pick((20, 0.05), (100, 1.0));
    let stage = |users, seconds: f64| Stage {
        users,
        over: Duration::from_secs_f64(seconds * scale),
    };
    let stages = [
        stage(50, 5.0),
        stage(50, 3.0),
        stage(100, 2.0),
        stage(100, 3.0),
        stage(200, 2.0),
        stage(200, 5.0),
    ];
    let pace = Pace::Closed {
        expected: Duration::from_millis(delay),
    };
    let service = Contestant::start(&["upstream", &delay.to_string()])?;
    let to = service.address.to_string();
    let ask = |arguments: &[&str]| {
        let server = Contestant::start(arguments)?;
        whole(server.load(&PLAIN, pace, stages.to_vec(), Duration::ZERO)?)
    };
    let virtual_threads = ask(&["virtual", &to])?;
    let pool = ask(&["pool", "50", &to])?;
    Ok(format!(
        "0 to 200 users, {delay} ms I/O: virtual threads {}; a pool of 50 OS threads {}",
        virtual_threads.line(),
        pool.line(),
    ))
}
