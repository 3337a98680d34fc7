//! The load generator: one OS thread, one epoll, keep-alive connections on loopback.
//!
//! - **Closed loop**: each user waits for its answer and asks again. A server that stalls is asked less; with
//!   [`Pace::Closed`]'s `expected` the histogram gets the samples that users who kept the pace would have seen.
//! - **Open loop**: requests are due at a steady rate whatever the server does, and their time counts from when they were
//!   *due*, so a stall is seen by all that were due in it. After the end the outstanding ones are waited for.
//!
//! Bounded: loopback only, at most [`MOST_USERS`] connections, a time-out for each request, an end for the whole.

mod exchange;
mod generator;
mod process;
mod user;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hdrhistogram::Histogram;

pub(crate) use exchange::{Exchange, Http, PLAIN, Reply};
pub(crate) use process::Usage;

/// Most connections at a time.
pub(crate) const MOST_USERS: usize = 15_000;
/// Longest time in the histogram, in microseconds.
const LONGEST: u64 = 120_000_000;

/// What is asked, how, and of whom.
pub(crate) struct Plan<'a> {
    pub(crate) target: SocketAddr,
    pub(crate) exchange: &'a dyn Exchange,
    pub(crate) pace: Pace,
    pub(crate) stages: Vec<Stage>,
    /// Answers that come earlier are not counted.
    pub(crate) warm_up: Duration,
    /// An answer that takes longer is an error.
    pub(crate) timeout: Duration,
    /// The server's process, whose use of the machine is measured.
    pub(crate) server: Option<u32>,
}

/// See the module's documentation.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    Closed { expected: Duration },
    Open { per_second: f64 },
}

/// The number of users moves to `users` in a straight line.
#[derive(Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) users: usize,
    pub(crate) over: Duration,
}

/// What came of it.
pub(crate) struct Report {
    pub(crate) answered: u64,
    /// Connections that failed, or ended before their answer.
    pub(crate) broken: u64,
    /// Answers that were not what they should be.
    pub(crate) wrong: u64,
    /// Requests without an answer within the time-out.
    pub(crate) late: u64,
    pub(crate) elapsed: Duration,
    /// Microseconds.
    pub(crate) times: Histogram<u64>,
    /// Of the server, over the measured time.
    pub(crate) usage: Usage,
}

impl Stage {
    /// So many users at once, for so long.
    pub(crate) fn steady(users: usize, over: Duration) -> Vec<Self> {
        let start = Self {
            users,
            over: Duration::ZERO,
        };
        vec![start, Self { users, over }]
    }
}

impl Plan<'_> {
    /// Carries it out.
    ///
    /// # Errors
    ///
    /// A plan beyond the bounds, or an operating system that refuses an epoll.
    pub(crate) fn run(&self) -> io::Result<Report> {
        let most = self.stages.iter().map(|stage| stage.users).max();
        if !self.target.ip().is_loopback() || most.is_none_or(|most| most > MOST_USERS) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("load goes to loopback only, from at most {MOST_USERS} users"),
            ));
        }
        generator::run(self)
    }

    fn length(&self) -> Duration {
        self.stages.iter().map(|stage| stage.over).sum()
    }

    /// How many users there are at that time.
    fn users_at(&self, mut elapsed: Duration) -> usize {
        let mut before = 0.0;
        for stage in &self.stages {
            let after = stage.users as f64;
            if elapsed < stage.over {
                let part = elapsed.as_secs_f64() / stage.over.as_secs_f64();
                return (before + (after - before) * part).round() as usize;
            }
            elapsed -= stage.over;
            before = after;
        }
        before as usize
    }
}

impl Report {
    fn new() -> Self {
        let times = Histogram::new_with_max(LONGEST, 3);
        Self {
            answered: 0,
            broken: 0,
            wrong: 0,
            late: 0,
            elapsed: Duration::ZERO,
            times: times.expect("three digits up to two minutes are within the histogram's bounds"),
            usage: Usage::default(),
        }
    }

    /// Answers per second.
    pub(crate) fn rate(&self) -> f64 {
        self.answered as f64 / self.elapsed.as_secs_f64()
    }

    /// Milliseconds that so many of a hundred answers took at most.
    pub(crate) fn percentile(&self, percent: f64) -> f64 {
        self.times.value_at_quantile(percent / 100.0) as f64 / 1e3
    }

    /// Milliseconds.
    pub(crate) fn mean(&self) -> f64 {
        self.times.mean() / 1e3
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        // A server that answers at once is told by its microseconds.
        let short = |millis: f64| match millis {
            long if long >= 10.0 => format!("{long:.1}"),
            short => format!("{short:.3}"),
        };
        format!(
            "{:.0}/s, mean {} p50 {} p95 {} p99 {} ms, {} errors ({:.2} %){}, {} MiB, {} OS threads",
            self.rate(),
            short(self.mean()),
            short(self.percentile(50.0)),
            short(self.percentile(95.0)),
            short(self.percentile(99.0)),
            self.errors(),
            self.error_rate(),
            self.kinds_of_errors(),
            self.usage.rss_kib.div_ceil(1024),
            self.usage.threads,
        )
    }

    fn kinds_of_errors(&self) -> String {
        let (broken, wrong, late) = (self.broken, self.wrong, self.late);
        match self.errors() {
            0 => String::new(),
            _ => format!(" of which broken {broken}, wrong {wrong}, late {late}"),
        }
    }

    pub(crate) fn errors(&self) -> u64 {
        self.broken + self.wrong + self.late
    }

    /// Errors in a hundred requests.
    pub(crate) fn error_rate(&self) -> f64 {
        let all = self.answered + self.errors();
        100.0 * self.errors() as f64 / all.max(1) as f64
    }
}
