//! Runs the contestants interleaved, round by round, and prints what ours takes beside the best of the others.
//!
//! Must not: measure anything itself. Each figure is a contestant's own; here they are compared.

mod contestants;
mod scale;
mod table;

use clap::Parser;

/// Measures vt-runtime beside tokio, may, Go and the JDK in one run.
#[derive(Parser)]
struct Arguments {
    /// Workloads, each with its number of workers (`yield@2`); all of them if none is named.
    workloads: Vec<String>,
    /// How often each contestant runs each workload.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Draws the cost of an operation over the number of live threads into this SVG file instead.
    #[arg(long, value_name = "FILE")]
    scale: Option<std::path::PathBuf>,
    /// The most live threads that `--scale` goes to.
    #[arg(long, default_value_t = 1_000_000)]
    live: u64,
}

const ALL: [&str; 13] = [
    "spawn-join@2",
    "sleep@2",
    "yield@1",
    "yield@2",
    "channel@1",
    "channel@2",
    "unpark@1",
    "unpark@2",
    "timers@2",
    "lock@2",
    "lock-yield@2",
    "semaphore@2",
    "fairness@2",
];

fn main() {
    let arguments = Arguments::parse();
    let outcome = match &arguments.scale {
        Some(file) => scale::draw(file, arguments.live, arguments.rounds),
        None => compare(&arguments),
    };
    if let Err(problem) = outcome {
        eprintln!("error: {problem}");
        std::process::exit(1);
    }
}

fn compare(arguments: &Arguments) -> Result<(), String> {
    let named: Vec<&str> = arguments.workloads.iter().map(String::as_str).collect();
    let workloads = if named.is_empty() { &ALL[..] } else { &named };
    let found = contestants::find()?;
    for name in workloads {
        let (workload, workers) = name.split_once('@').unwrap_or((name, "2"));
        let mut table = table::Table::new(name);
        for _ in 0..arguments.rounds.max(1) {
            for contestant in &found {
                match contestant.run(&[workload], workers, &[]) {
                    Ok(Some(run)) => table.add(contestant.name, &run),
                    Ok(None) => table.absent(contestant.name, "has nothing that comes near"),
                    Err(problem) => table.absent(contestant.name, &problem),
                }
            }
        }
        table.print();
    }
    Ok(())
}
