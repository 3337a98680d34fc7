//! I/O beside tokio, may and Go: the same client, interleaved rounds, medians and ratios.
//!
//! ```text
//! cargo run --release --manifest-path tests/peers/io/Cargo.toml -- \
//!     [echo|http|files].. [--rounds 5] [--seconds 5] [--only vt,tokio] [--connections 1000]
//! ```
//!
//! The server runs on core 0 with two workers or carriers, the client on core 1. A figure taken while other processes kept
//! the cores busy says so: the column `foreign` is how many cores they took.

mod contestants;
mod echo;
mod files;
#[expect(
    dead_code,
    unused_imports,
    reason = "the scenarios use more of the load generator"
)]
#[path = "../../../scenarios/load/mod.rs"]
mod load;
mod machine;
mod serve;
mod table;

use std::process::ExitCode;
use std::time::Duration;

/// The argument that makes this program a server.
const SERVE: &str = "--serve";
/// The argument that makes this program read a file.
const READ: &str = "--read";

struct Effort {
    rounds: usize,
    span: Duration,
    connections: usize,
    /// Who takes part, if not all.
    only: Option<Vec<String>>,
}

impl Effort {
    fn asks(&self, contestant: &str) -> bool {
        let named = |only: &Vec<String>| only.iter().any(|name| name == contestant);
        self.only.as_ref().is_none_or(named)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match text[..] {
        [SERVE, contestant, workload] => serve::serve(contestant, workload),
        [READ, contestant, path] => files::read(contestant, path),
        _ => compare(&text),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(arguments: &[&str]) -> std::io::Result<()> {
    let text = |name: &str| {
        let at = arguments.iter().position(|argument| *argument == name)?;
        arguments.get(at + 1)
    };
    let option = |name: &str, otherwise: u32| {
        text(name)
            .and_then(|text| text.parse().ok())
            .unwrap_or(otherwise)
    };
    let effort = Effort {
        rounds: option("--rounds", 5) as usize,
        span: Duration::from_secs(option("--seconds", 5).into()),
        connections: option("--connections", 1000) as usize,
        only: text("--only").map(|names| names.split(',').map(str::to_owned).collect()),
    };
    let named: Vec<&str> = ["echo", "http", "files"]
        .into_iter()
        .filter(|name| arguments.contains(name))
        .collect();
    let workloads = if named.is_empty() {
        vec!["echo", "http", "files"]
    } else {
        named
    };
    for workload in workloads {
        match workload {
            "files" => files::compare(&effort)?,
            workload => echo::compare(workload, &effort)?,
        }
    }
    Ok(())
}
