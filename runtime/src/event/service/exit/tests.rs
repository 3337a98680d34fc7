//! A program that ends right after its only pin still shows it. Each case runs in a process of its own.

use std::process::{Command, Output, Stdio};

use crate::event::capture::{Capture, KillTimer, raw_pin};
use crate::event::{DEFAULT_PIN_THRESHOLD, Event, Hub};

/// Set in the child; its value names the case.
const CASE: &str = "VT_EVENT_EXIT_CASE";

/// A subscriber that prints the pins it is given.
fn printer() -> tracing::Dispatch {
    let capture = Capture::acting(|event| {
        if let Event::VirtualThreadPinned(pinned) = event {
            // Not `println!`: the test harness captures that.
            let line = format!("pinned #{}\n", pinned.thread.id);
            let _ = std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes());
        }
    });
    capture.dispatch()
}

fn install() {
    tracing::dispatcher::set_global_default(printer()).expect("the first subscriber");
}

fn hub(dispatch: Option<tracing::Dispatch>) -> std::sync::Arc<Hub> {
    let hub = Hub::new(1, 16, DEFAULT_PIN_THRESHOLD, dispatch);
    hub.flush_at_exit();
    hub
}

/// The child's part: not a test of its own.
#[test]
fn child() {
    let Ok(case) = std::env::var(CASE) else {
        return;
    };
    match case.as_str() {
        "own-dispatch" => {
            hub(Some(printer())).pinned(0, &raw_pin(41, None, &[]));
            // The hub is gone here, and its thread may not have had its turn yet.
        }
        "early-subscriber" => {
            install();
            let hub = std::mem::ManuallyDrop::new(hub(None));
            hub.pinned(0, &raw_pin(41, None, &[]));
        }
        "late-subscriber" => {
            let hub = std::mem::ManuallyDrop::new(hub(None));
            install();
            hub.pinned(0, &raw_pin(41, None, &[]));
            std::process::exit(7);
        }
        "stuck-subscriber" => {
            let capture = Capture::acting(|_| {
                loop {
                    std::thread::park();
                }
            });
            let hub = std::mem::ManuallyDrop::new(hub(Some(capture.dispatch())));
            hub.pinned(0, &raw_pin(41, None, &[]));
            std::process::exit(7);
        }
        "exit-in-subscriber" => {
            let capture = Capture::acting(|_| std::process::exit(7));
            let hub = std::mem::ManuallyDrop::new(hub(Some(capture.dispatch())));
            hub.pinned(0, &raw_pin(41, None, &[]));
            hub.flush(std::time::Duration::MAX);
        }
        other => panic!("no case {other}"),
    }
}

fn run(case: &str) -> Output {
    let _timer = KillTimer::start();
    let this = std::env::current_exe().expect("the test binary");
    Command::new(this)
        .args([
            "--exact",
            "event::service::exit::tests::child",
            "--nocapture",
        ])
        .env(CASE, case)
        .stderr(Stdio::inherit())
        .output()
        .expect("the test binary starts")
}

fn shows_the_pin(output: &Output) -> bool {
    String::from_utf8_lossy(&output.stdout).contains("pinned #41\n")
}

#[test]
fn the_return_of_main_flushes() {
    for case in ["own-dispatch", "early-subscriber"] {
        let output = run(case);
        assert!(output.status.success());
        assert!(shows_the_pin(&output), "{case}: {output:?}");
    }
}

#[test]
fn an_explicit_exit_flushes_to_a_late_subscriber() {
    let output = run("late-subscriber");
    assert_eq!(output.status.code(), Some(7));
    assert!(shows_the_pin(&output), "{output:?}");
}

#[test]
fn a_stuck_subscriber_does_not_hold_the_process() {
    assert_eq!(run("stuck-subscriber").status.code(), Some(7));
}

#[test]
fn a_subscriber_may_exit_the_process() {
    assert_eq!(run("exit-in-subscriber").status.code(), Some(7));
}
