//! Verification of a 4 KiB payload, which is work for the processor, in front of 100 ms of I/O, at the peak of users.

use std::time::Duration;

use crate::contestant::{Contestant, verify};
use crate::load::{Http, Pace, Report, Stage};
use crate::{Outcome, Scenario, Size, whole};

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "payload",
    published: "none for this shape; the ceiling of 200 users x 100 ms is 2,000/s",
    run,
};

const PAYLOAD: usize = 4096;

fn run(size: Size) -> Outcome {
    let (users, delay, seconds) = size.pick((50, 20, 0.7), (200, 100, 10.0));
    let service = Contestant::start(&["upstream", &delay.to_string()])?;
    let to = service.address.to_string();
    // Every answer must be the checksum of what was sent with it.
    let exchange = Http {
        body: |number| verify::payload(number, PAYLOAD),
        answer: |number| Some(verify::answer(&verify::payload(number, PAYLOAD))),
    };
    let ask = |arguments: &[&str]| -> Outcome<Report> {
        let server = Contestant::start(arguments)?;
        let pace = Pace::Closed {
            expected: Duration::from_millis(delay),
        };
        let stages = Stage::steady(users, Duration::from_secs_f64(seconds));
        whole(server.load(
            &exchange,
            pace,
            stages,
            Duration::from_secs_f64(seconds / 5.0),
        )?)
    };
    let virtual_threads = ask(&["virtual", &to])?;
    let tasks = ask(&["async", &to])?;
    let pool = ask(&["pool", "50", &to])?;
    Ok(format!(
        "{users} users, {PAYLOAD} bytes verified, {delay} ms I/O: virtual threads {}; async {}; a pool of 50 OS threads {}",
        virtual_threads.line(),
        tasks.line(),
        pool.line(),
    ))
}
