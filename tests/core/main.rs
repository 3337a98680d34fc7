//! The runtime's core under its contract: what a spawn costs, limits, fairness, placement, timers, dumps, ends, and
//! everything at once at random.

mod counting;
mod dump;
mod ends;
mod fairness;
mod interrupts;
mod leaks;
mod limits;
mod placement;
mod reports;
mod soundness;
mod spawn;
mod stress;
mod timers;

use std::process::{Command, Output};

use vt_runtime::Stacks;

/// Runs a case of the program that does what one process can do only once, under that `ulimit` if there is one.
fn in_a_program(case: &str, stacks: Stacks, limit: Option<&str>) -> (Output, String) {
    let program = env!("CARGO_BIN_EXE_faulty");
    let script = match limit {
        Some(limit) => format!("ulimit {limit}; exec \"$@\""),
        None => "exec \"$@\"".to_owned(),
    };
    let output = Command::new("sh")
        .args(["-c", &script, "sh", program, case, &stacks.to_string()])
        .output()
        .expect("there is a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, format!("{stacks}: {said}"))
}
