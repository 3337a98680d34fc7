//! What virtual threads are for, measured: each scenario is one program and one line, with the published figure beside it.
//!
//! ```text
//! cargo bench --package vt-tests --bench scenarios [-- NAME..]    full size, release
//! cargo test  --package vt-tests --bench scenarios [-- NAME..]    small, debug: results are checked, times are not
//! ```
//!
//! Every scenario runs in a process of its own, servers and upstream services in further ones, and all load comes from
//! `load/`. A scenario fails if a request is lost or answered wrongly, or if it takes too long.

mod connections;
mod contestant;
mod fan_out;
mod load;
mod payload;
mod pinned;
mod pool_of_ten;
mod race;
mod ramp;
mod stall;
mod ten_thousand;
mod upstream;

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use vt_tests::Deadline;

use load::Report;

/// Makes this program one scenario.
const ONE: &str = "--one";
/// No scenario takes that long.
const LIMIT: Duration = Duration::from_secs(300);

/// A line to show, or what went wrong.
type Outcome<T = String> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How much is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    /// Enough to see that the results are right.
    Small,
    /// What the figures are published for.
    Full,
}

struct Scenario {
    name: &'static str,
    /// What others have published for it, and where.
    published: &'static str,
    run: fn(Size) -> Outcome,
}

const SCENARIOS: [Scenario; 10] = [
    race::SCENARIO,
    ten_thousand::SCENARIO,
    fan_out::SCENARIO,
    pool_of_ten::SCENARIO,
    ramp::SCENARIO,
    upstream::SCENARIO,
    payload::SCENARIO,
    connections::SCENARIO,
    pinned::SCENARIO,
    stall::SCENARIO,
];

impl Size {
    /// What a scenario takes of either.
    fn pick<T>(self, small: T, full: T) -> T {
        match self {
            Self::Small => small,
            Self::Full => full,
        }
    }
}

/// The report, if no request was lost or answered wrongly.
fn whole(report: Report) -> Outcome<Report> {
    if report.answered == 0 || report.errors() > 0 {
        return Err(report.line().into());
    }
    Ok(report)
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    // What cargo and test runners say to a benchmark, and to a test.
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    if arguments.iter().any(|argument| argument == "--list") {
        if !arguments.iter().any(|argument| argument == "--ignored") {
            for scenario in &SCENARIOS {
                println!("{}: test", scenario.name);
            }
        }
        return ExitCode::SUCCESS;
    }
    if arguments
        .first()
        .is_some_and(|first| first == contestant::FLAG)
    {
        return ended(contestant::serve(&arguments[1..]));
    }
    let size = if is_bench { Size::Full } else { Size::Small };
    let one = arguments.iter().any(|argument| argument == ONE);
    arguments.retain(|argument| !argument.starts_with("--"));
    let is_asked = |scenario: &&Scenario| arguments.iter().any(|name| name == scenario.name);
    let asked: Vec<&Scenario> = match &arguments[..] {
        [] => SCENARIOS.iter().collect(),
        _ => SCENARIOS.iter().filter(is_asked).collect(),
    };
    if asked.is_empty() {
        eprintln!("no scenario is called {arguments:?}: there are");
        for scenario in &SCENARIOS {
            eprintln!("  {}", scenario.name);
        }
        return ExitCode::from(2);
    }
    if one {
        return ended(in_this_process(asked[0], size));
    }
    let failed = asked
        .into_iter()
        .filter(|scenario| !in_its_own_process(scenario, size))
        .count();
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn ended(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn in_its_own_process(scenario: &Scenario, size: Size) -> bool {
    let mut command = Command::new(std::env::current_exe().expect("this program has a name"));
    command.args([ONE, scenario.name]).stdin(Stdio::null());
    if size == Size::Full {
        command.arg("--bench");
    }
    let status = command.status().expect("this program can be started");
    status.success()
}

fn in_this_process(scenario: &Scenario, size: Size) -> Result<(), String> {
    let _alive = Deadline::after(LIMIT);
    let start = Instant::now();
    let line = (scenario.run)(size)
        .map_err(|error| format!("the scenario {} failed: {error}", scenario.name))?;
    println!("{:<13} {line}", scenario.name);
    if size == Size::Full {
        println!("{:<13}   published: {}", "", scenario.published);
    } else {
        println!("{:<13}   small size, {:.1?}", "", start.elapsed());
    }
    Ok(())
}
