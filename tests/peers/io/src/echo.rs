//! A thousand connections, or as many as asked for: 64 bytes back and forth, or a handler that takes 200 ms.

use std::io::{self, BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::load::{Exchange, PLAIN, Pace, Plan, Reply, Report, Stage};
use crate::machine::{self, Busy};
use crate::serve::HANDLER;
use crate::table::Table;
use crate::{Effort, SERVE, contestants};

const BYTES: usize = 64;
/// What is compared; of the first more is better, of the others less.
const COLUMNS: [&str; 8] = [
    "requests/s",
    "p50 ms",
    "p99 ms",
    "p99.9 ms",
    "CPU s/M",
    "of it system",
    "RSS MiB",
    "errors",
];

/// Bytes that must come back as they are; each request has others.
struct Echo;

impl Echo {
    fn bytes(number: u64) -> [u8; BYTES] {
        let number = number.to_le_bytes();
        std::array::from_fn(|at| number[at % 8] ^ at as u8)
    }
}

impl Exchange for Echo {
    fn request(&self, number: u64, into: &mut Vec<u8>) {
        into.extend_from_slice(&Self::bytes(number));
    }

    fn judge(&self, number: u64, come: &[u8]) -> Reply {
        if come.len() < BYTES {
            Reply::Partial
        } else if come == Self::bytes(number) {
            Reply::Right
        } else {
            Reply::Wrong
        }
    }
}

pub(crate) fn compare(workload: &str, effort: &Effort) -> io::Result<()> {
    let contestants: Vec<_> = contestants::find()
        .into_iter()
        .filter(|name| effort.asks(name))
        .collect();
    machine::stay_on(1);
    let title = format!(
        "{workload}: {} connections, {} rounds",
        effort.connections, effort.rounds
    );
    let mut table = Table::new(title, &contestants, &COLUMNS);
    for _ in 0..effort.rounds {
        for &contestant in &contestants {
            let busy = Busy::now();
            let report = round(contestant, workload, effort)?;
            // A connection may come to grief on a starved machine; a wrong byte may not.
            if report.wrong > 0 || report.answered == 0 {
                return Err(io::Error::other(format!("{contestant}: {}", report.line())));
            }
            let per_million = 1e6 / report.answered as f64;
            let figures = [
                report.rate(),
                report.percentile(50.0),
                report.percentile(99.0),
                report.percentile(99.9),
                report.usage.cpu.as_secs_f64() * per_million,
                report.usage.system.as_secs_f64() * per_million,
                report.usage.rss_kib as f64 / 1024.0,
                report.errors() as f64,
            ];
            table.add(contestant, &figures, busy.by_others());
        }
    }
    table.print();
    Ok(())
}

fn round(contestant: &str, workload: &str, effort: &Effort) -> io::Result<Report> {
    let mut server = Command::new(std::env::current_exe()?)
        .args([SERVE, contestant, workload])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    if let Some(output) = &mut server.stdout {
        BufReader::new(output).read_line(&mut line)?;
    }
    let target = line
        .trim()
        .parse()
        .map_err(|_| io::Error::other("the server did not say its address"))?;
    let exchange: &dyn Exchange = if workload == "http" { &PLAIN } else { &Echo };
    let expected = if workload == "http" {
        HANDLER
    } else {
        Duration::ZERO
    };
    // Not all at once: a queue of connections that is full for a moment makes its clients wait for a second, which is no
    // figure of the server's.
    let warm_up = Duration::from_secs(1);
    let stage = |over| Stage {
        users: effort.connections,
        over,
    };
    let plan = Plan {
        target,
        exchange,
        pace: Pace::Closed { expected },
        stages: vec![stage(warm_up / 2), stage(warm_up / 2 + effort.span)],
        warm_up,
        timeout: Duration::from_secs(20),
        server: Some(server.id()),
    };
    let report = plan.run();
    server.kill()?;
    server.wait()?;
    report
}
