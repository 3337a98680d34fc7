//! The load generator's own proof: a server that answers at once, but stops for a while. A closed loop of two users
//! asks twice in that time and shows next to nothing; an open loop shows every request that was due in it.

use std::time::Duration;

use crate::contestant::Contestant;
use crate::load::{PLAIN, Pace, Report, Stage};
use crate::{Outcome, Scenario, Size, whole};

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "stall",
    published: "none; of requests due at a steady rate, those within the stall wait half of it on average",
    run,
};

fn run(size: Size) -> Outcome {
    let (stall, seconds) = size.pick((300, 1.0), (1_000, 5.0));
    let ask = |users, pace| -> Outcome<Report> {
        let server = Contestant::start(&["stalling", &stall.to_string()])?;
        let stages = Stage::steady(users, Duration::from_secs_f64(seconds));
        whole(server.load(&PLAIN, pace, stages, Duration::ZERO)?)
    };
    let closed = ask(
        2,
        Pace::Closed {
            expected: Duration::ZERO,
        },
    )?;
    let open = ask(50, Pace::Open { per_second: 500.0 })?;
    // A fifth or more of the requests are due in the stall, so the slowest twentieth of all waited for most of it.
    let least = f64::from(stall) / 3.0;
    if open.percentile(95.0) < least {
        return Err(format!("the open loop hid a stall of {stall} ms: {}", open.line()).into());
    }
    Ok(format!(
        "the server stops for {stall} ms: closed loop {}; open loop {}",
        closed.line(),
        open.line(),
    ))
}
