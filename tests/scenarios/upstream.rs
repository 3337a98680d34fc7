//! A thousand users whose requests wait 200 ms for a service upstream: plain blocking code on virtual threads against the
//! same service written async. Then the same in an open loop, where a stall would be seen by all that were due in it.

use std::time::Duration;

use crate::contestant::Contestant;
use crate::load::{PLAIN, Pace, Report, Stage};
use crate::{Outcome, Scenario, Size, whole};

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "upstream",
    published: "1,000 users x 200 ms: ceiling 5,000/s; Go 4,993/s, tokio 4,992/s, JDK 25 4,986/s, each with p99 203 to 204 ms; a pool \
                of 200 OS threads 998/s (quiet two-core machine). Spring on virtual threads 4,808/s, on its pool about 1,000/s \
                (mlachgar.ch, Java 21 virtual threads)",
    run,
};

fn run(size: Size) -> Outcome {
    let (users, delay, seconds) = size.pick((100, 20, 0.7), (1_000, 200, 10.0));
    let stages = Stage::steady(users, Duration::from_secs_f64(seconds));
    let warm_up = Duration::from_secs_f64(seconds / 5.0);
    let service = Contestant::start(&["upstream", &delay.to_string()])?;
    let to = service.address.to_string();
    let ask = |contestant, pace| -> Outcome<Report> {
        let server = Contestant::start(&[contestant, &to])?;
        whole(server.load(&PLAIN, pace, stages.clone(), warm_up)?)
    };
    let closed = Pace::Closed {
        expected: Duration::from_millis(delay),
    };
    // Four fifths of what the users can do at most.
    let open = Pace::Open {
        per_second: 0.8 * users as f64 * 1e3 / delay as f64,
    };
    let mut lines = Vec::new();
    for (pace, loop_of) in [(closed, "closed loop"), (open, "open loop")] {
        for contestant in ["virtual", "async"] {
            let report = ask(contestant, pace)?;
            lines.push(format!("{contestant}, {loop_of}: {}", report.line()));
        }
    }
    Ok(format!(
        "{users} users, {delay} ms upstream: {}",
        lines.join("; ")
    ))
}
