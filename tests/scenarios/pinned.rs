//! The same service twice: with its connection upstream under a `Monitor`, which pins, and under a `ReentrantLock`, which
//! does not. Nobody ever waits for the lock, and yet the first is a pool of two threads again.

use std::time::Duration;

use crate::contestant::Contestant;
use crate::load::{PLAIN, Pace, Report, Stage};
use crate::{Outcome, Scenario, Size, whole};

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "pinned",
    published: "100 tasks x 100 ms on two carriers: JDK 21 with synchronized 5,034 ms, with ReentrantLock 120 ms (quiet two-core \
                machine): 20/s and 830/s",
    run,
};

fn run(size: Size) -> Outcome {
    let (users, delay, seconds) = size.pick((20, 20, 0.7), (100, 100, 10.0));
    let service = Contestant::start(&["upstream", &delay.to_string()])?;
    let to = service.address.to_string();
    let ask = |contestant| -> Outcome<Report> {
        let server = Contestant::start(&[contestant, &to])?;
        let pace = Pace::Closed {
            expected: Duration::ZERO,
        };
        let stages = Stage::steady(users, Duration::from_secs_f64(seconds));
        whole(server.load(&PLAIN, pace, stages, Duration::ZERO)?)
    };
    let (pinned, repaired) = (ask("pinned")?, ask("repaired")?);
    if repaired.rate() < pinned.rate() {
        return Err(format!("pinned {}, repaired {}", pinned.line(), repaired.line()).into());
    }
    Ok(format!(
        "{users} users, {delay} ms I/O: pinned {}; repaired {}: {:.0} times",
        pinned.line(),
        repaired.line(),
        repaired.rate() / pinned.rate(),
    ))
}
