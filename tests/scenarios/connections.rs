//! A thousand users share a pool of 20 or 50 connections upstream, and give up waiting for one after a while: virtual
//! threads do not make the limited resource larger, but nobody hangs and every refusal says so.

use std::time::Duration;

use crate::contestant::Contestant;
use crate::load::{PLAIN, Pace, Stage};
use crate::{Outcome, Scenario, Size};

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "connections",
    published: "none for this shape; the ceiling is connections ÷ time of a call, 400/s and 1,000/s",
    run,
};

fn run(size: Size) -> Outcome {
    let (users, delay, wait, seconds) = size.pick((100, 10, 30, 0.7), (1_000, 50, 1_500, 10.0));
    let service = Contestant::start(&["upstream", &delay.to_string()])?;
    let to = service.address.to_string();
    let mut lines = Vec::new();
    for connections in [20, 50] {
        let size = connections.to_string();
        let server = Contestant::start(&["connections", &size, &wait.to_string(), &to])?;
        let report = server.load(
            &PLAIN,
            Pace::Closed {
                expected: Duration::ZERO,
            },
            Stage::steady(users, Duration::from_secs_f64(seconds)),
            Duration::from_secs_f64(seconds / 5.0),
        )?;
        // A refusal, status 503, is counted as a wrong answer. What may not be is silence or a broken connection.
        if report.answered == 0 || report.late + report.broken > 0 {
            return Err(format!("{connections} connections: {}", report.line()).into());
        }
        let ceiling = f64::from(connections) * 1e3 / f64::from(delay);
        lines.push(format!(
            "{connections} connections (ceiling {ceiling:.0}/s) {}, of them refused {}",
            report.line(),
            report.wrong,
        ));
    }
    Ok(format!(
        "{users} users, calls of {delay} ms, wait at most {wait} ms: {}",
        lines.join("; ")
    ))
}
