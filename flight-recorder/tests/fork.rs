//! A recorded program that forks: the child is not the recorded process, and leaves its files alone.
#![expect(unsafe_code, reason = "forks, which only the C library can")]

#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::path::PathBuf;
use std::process::Command;

use scene::{pin, pins};
use vt_flight_recorder::attach::Process;
use vt_flight_recorder::{FlightRecorder, Settings};
use vt_runtime::Runtime;

#[test]
fn a_forked_child_writes_no_dump_and_takes_no_socket_away() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("exit.jfr");
    let output = Command::new(std::env::current_exe().expect("the test's own path"))
        .args(["--exact", "forks_and_exits", "--ignored", "--nocapture"])
        .env("VT_TEST_DUMP", &path)
        .output()
        .expect("the test can run itself");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(7), "{told}");
    let bytes = std::fs::read(&path).expect("the parent wrote its dump");
    assert_eq!(pins(&bytes).len(), 1);
}

#[test]
#[ignore = "the child of a_forked_child_writes_no_dump_and_takes_no_socket_away"]
fn forks_and_exits() {
    // A hang ends the whole group of processes.
    rustix::process::setsid().expect("not a leader yet");
    let watch = std::thread::Builder::new().spawn(|| {
        std::thread::park_timeout(std::time::Duration::from_secs(60));
        let group = rustix::process::getpgrp();
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    });
    let _watch = watch.expect("a thread can be started");
    let path = PathBuf::from(std::env::var_os("VT_TEST_DUMP").expect("the parent says where"));
    let builder = FlightRecorder::builder().settings(Settings::test());
    let builder = builder.dump_on_exit(&path).attach(true);
    let (_layer, recorder) = builder.install().expect("it starts");
    pin(Runtime::global());
    // SAFETY: the child uses nothing that another thread may have held locked: the recorder finds out that it was
    // forked before it takes a lock, and so does the handler of `exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = recorder.dump(&path).is_err();
        // SAFETY: ends the process, with the handlers that are under test.
        unsafe { libc::exit(if refused { 5 } else { 6 }) };
    }
    assert!(child > 0, "no process can be forked");
    let mut status = 0;
    // SAFETY: waits for the child just made, and writes into a local.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((ended, libc::WEXITSTATUS(status)), (child, 5));
    assert!(!path.exists(), "the child wrote the parent's dump");
    let process = Process::find(std::process::id()).expect("it still listens");
    assert!(
        process
            .status()
            .expect("it answers")
            .contains("settings test")
    );
    std::process::exit(7);
}
