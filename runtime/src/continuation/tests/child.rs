//! Tests that end their process, or use up what all tests share: this test binary, run again for one test.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::{Setup, setups};

/// Set for a child: which of the setups it is to act on.
const CHILD: &str = "VT_FAULT_CHILD";

/// How a child ended, and what it said.
pub(super) struct Ending {
    pub(super) status: ExitStatus,
    pub(super) said: String,
}

/// Runs the calling test once more for each setup, in a child process that does `act`, and checks how
/// that ended. A child that hangs is killed and fails the test.
pub(super) fn each_in_a_child(test: &str, act: impl Fn(Setup), check: impl Fn(Setup, &Ending)) {
    let asked: Option<usize> = std::env::var(CHILD)
        .ok()
        .and_then(|number| number.parse().ok());
    if let Some(setup) = asked.and_then(|number| setups().nth(number)) {
        act(setup);
        std::process::exit(0);
    }
    for (number, setup) in setups().enumerate() {
        check(setup, &run_child(test, number));
    }
}

fn run_child(test: &str, number: usize) -> Ending {
    let mut child = Command::new(std::env::current_exe().expect("a test binary has a path"))
        .args([
            "--exact",
            &format!("continuation::tests::{test}"),
            "--nocapture",
        ])
        .env(CHILD, number.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the test binary runs");
    let mut stderr = child.stderr.take().expect("it is piped");
    let (done, over) = mpsc::channel();
    let reader = std::thread::Builder::new().spawn(move || {
        let mut said = String::new();
        let _ = stderr.read_to_string(&mut said);
        let _ = done.send(said);
    });
    let said = over.recv_timeout(Duration::from_secs(30));
    if said.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().expect("the child has ended, or was killed");
    reader
        .expect("one more thread")
        .join()
        .expect("reading does not panic");
    Ending {
        status,
        said: said.unwrap_or_else(|_| panic!("{test} hangs in child {number}")),
    }
}
