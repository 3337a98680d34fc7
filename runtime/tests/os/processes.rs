//! Child processes and the standard streams, as std's, without the carrier.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::time::Instant;

use vt_runtime::process::{Command, Stdio};
use vt_runtime::{io, thread};

use super::{on_both, until_it_waits, within_limit};

#[test]
fn output_and_status_of_a_child() {
    let check = || {
        let script = "echo out; echo err >&2; exit 3";
        let output = Command::new("sh")
            .args(["-c", script])
            .output()
            .expect("a shell");
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(
            (&*output.stdout, &*output.stderr),
            (&b"out\n"[..], &b"err\n"[..])
        );
        assert!(
            Command::new("true")
                .status()
                .expect("it is there")
                .success()
        );
        let error = Command::new("/no/such/program")
            .spawn()
            .expect_err("it is not there");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    };
    on_both(1, |runtime| runtime.run(check));
    check();
}

#[test]
fn more_output_than_pipes_hold_on_both_streams() {
    on_both(1, |runtime| {
        let output = runtime.run(|| {
            let script = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2";
            Command::new("sh")
                .args(["-c", script])
                .output()
                .expect("a shell")
        });
        assert_eq!(
            (output.stdout.len(), output.stderr.len()),
            (300_000, 300_000)
        );
    });
}

#[test]
fn bytes_through_a_child_and_a_chain_of_children() {
    on_both(1, |runtime| {
        runtime.run(|| {
            let mut first = Command::new("cat")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("it is there");
            let between = first.stdout.take().expect("piped");
            let second = Command::new("cat")
                .stdin(between)
                .stdout(Stdio::piped())
                .spawn()
                .expect("it is there");
            let mut stdin = first.stdin.take().expect("piped");
            let bytes: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 239) as u8).collect();
            let sent = bytes.clone();
            let writer = thread::spawn(move || stdin.write_all(&sent).expect("it reads"));
            let output = second.wait_with_output().expect("it ends");
            writer.join().expect("no panic");
            assert!(output.stdout == bytes);
            assert!(first.wait().expect("it ends").success());
        });
    });
}

#[test]
fn the_wait_for_a_child_keeps_no_carrier_and_may_be_interrupted() {
    on_both(1, |runtime| {
        let mut child = runtime.run(|| {
            Command::new("sleep")
                .arg("600")
                .spawn()
                .expect("it is there")
        });
        let waits = runtime.spawn(move || {
            let error = child.wait().expect_err("interrupted");
            let inner = error.get_ref().expect("ours");
            assert!(inner.is::<io::Interrupted>());
            child.kill().expect("it runs");
            child.wait().expect("it ends")
        });
        until_it_waits(runtime, waits.thread().id());
        runtime.spawn(|| ()).join().expect("the carrier is free");
        waits.thread().interrupt();
        assert_eq!(waits.join().expect("no panic").signal(), Some(9));
    });
}

#[test]
fn many_children_at_once() {
    on_both(2, |runtime| {
        let start = Instant::now();
        let waits: Vec<_> = (0..40)
            .map(|_| {
                runtime.spawn(|| {
                    Command::new("sleep")
                        .arg("0.2")
                        .status()
                        .expect("it is there")
                })
            })
            .collect();
        assert!(
            waits
                .into_iter()
                .all(|wait| wait.join().expect("no panic").success())
        );
        // One after the other they would take eight seconds.
        assert!(start.elapsed().as_secs() < 7);
    });
}

/// The streams of a process are its own, so this one is started again.
#[test]
fn standard_streams() {
    const CHILD: &str = "VT_TEST_STREAMS";
    if std::env::var_os(CHILD).is_some() {
        let reader = thread::spawn(|| {
            let mut first = String::new();
            io::stdin().read_line(&mut first).expect("a line comes");
            let mut rest = io::stdin().lines();
            let second = rest.next().expect("another").expect("text");
            writeln!(io::stdout(), "<{}|{second}>", first.trim_end()).expect("somebody reads");
            writeln!(io::stderr(), "done").expect("somebody reads");
            assert!(rest.next().is_none());
        });
        return reader.join().expect("no panic");
    }
    within_limit(|| {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["processes::standard_streams", "--exact", "--nocapture"])
            .env(CHILD, "1")
            .env("VT_CARRIERS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("this test runs again");
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(b"one\ntwo").expect("it reads");
        drop(stdin);
        let mut errors = String::new();
        let mut stderr = child.stderr.take().expect("piped");
        stderr.read_to_string(&mut errors).expect("text");
        let output = child.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{errors}");
        assert!(text.contains("<one|two>"), "{text}");
        assert!(errors.contains("done"), "{errors}");
    });
}
