//! A recorder over a real runtime: pins become files that readers agree on.

use std::io::Cursor;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use tracing_subscriber::prelude::*;
use vt_flight_recorder::attach::Process;
use vt_flight_recorder::{FlightRecorder, Pin, Reader, Settings};
use vt_runtime::Runtime;
use vt_runtime::event::Event;
use vt_runtime::sync::Monitor;

/// Runs `test` on a thread of its own and fails when it does not end.
fn within(limit: Duration, test: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    let thread = std::thread::Builder::new()
        .name("test".to_owned())
        .spawn(move || {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
            let _ = done.send(());
            outcome
        });
    let thread = thread.expect("a thread can be started");
    ended.recv_timeout(limit).expect("the test ended in time");
    if let Ok(Err(panic)) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

const LIMIT: Duration = Duration::from_secs(60);

fn runtime() -> Runtime {
    Runtime::builder()
        .carriers(2)
        .build()
        .expect("a runtime of two carriers")
}

/// Holds a monitor over a wait: one pin.
fn pin(runtime: &Runtime) {
    runtime.run(|| {
        let orders = Monitor::named("orders", ());
        let _held = orders.enter();
        vt_runtime::thread::sleep(Duration::from_millis(3));
    });
}

fn pins(bytes: &[u8]) -> Vec<Pin> {
    let mut pins = Vec::new();
    let mut reader = Reader::new(Cursor::new(bytes)).expect("a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        chunk
            .each(|event| pins.extend(Pin::of(event)))
            .expect("readable");
    }
    assert!(reader.damages().is_empty(), "{:?}", reader.damages());
    pins
}

fn events(bytes: &[u8], name: &str) -> u64 {
    let mut count = 0;
    let mut reader = Reader::new(Cursor::new(bytes)).expect("a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        chunk
            .each(|event| count += u64::from(event.name() == name))
            .expect("readable");
    }
    count
}

#[test]
fn a_pin_is_in_the_dump_with_its_places_and_its_lock() {
    within(LIMIT, || {
        let runtime = runtime();
        let builder = FlightRecorder::builder()
            .runtime(&runtime)
            .settings(Settings::test());
        let (_layer, recorder) = builder.install().expect("it starts");
        pin(&runtime);
        let recorded = recorder.snapshot();
        let of_pins = recorded
            .iter()
            .filter(|r| matches!(r.event, Event::VirtualThreadPinned(_)));
        assert_eq!(of_pins.count(), 1);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("pin.jfr");
        recorder.dump(&path).expect("it is written");
        let bytes = std::fs::read(&path).expect("it can be read");
        let pins = pins(&bytes);
        assert_eq!(pins.len(), 1);
        let pin = &pins[0];
        assert_eq!(
            (pin.reason.as_str(), pin.operation.as_str()),
            ("monitor", "sleep")
        );
        assert_eq!(pin.lock, "orders");
        assert!(pin.duration_ns >= 3_000_000, "{}", pin.duration_ns);
        assert!(
            pin.blocked_at.contains("tests/recorder.rs:"),
            "{}",
            pin.blocked_at
        );
        assert!(
            pin.pinned_at.contains("tests/recorder.rs:"),
            "{}",
            pin.pinned_at
        );
        assert!(
            pin.application_frame()
                .is_some_and(|frame| frame.application),
            "{:?}",
            pin.frames
        );
        assert_eq!(events(&bytes, "jdk.VirtualThreadStart"), 1);
        assert_eq!(events(&bytes, "jdk.JVMInformation"), 1);
        assert_eq!(events(&bytes, "vt.PinSite"), 1);
        assert!(only_its_owner_may_read(&path));
        the_jdk_counts_one_pin(&path);
        let left = std::fs::read_dir(folder.path()).expect("listable").count();
        assert_eq!(left, 1, "a temporary file was left");
    });
}

fn only_its_owner_may_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path)
        .expect("it is there")
        .permissions()
        .mode();
    mode & 0o777 == 0o600
}

fn the_jdk_counts_one_pin(path: &Path) {
    let Ok(output) = Command::new("jfr").arg("summary").arg(path).output() else {
        println!("skipped: the JDK's `jfr` cannot be run here");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text
        .lines()
        .find(|line| line.contains("jdk.VirtualThreadPinned"));
    assert_eq!(
        line.and_then(|line| line.split_whitespace().nth(1)),
        Some("1"),
        "{text}"
    );
}

#[test]
fn the_default_settings_keep_no_lifetimes() {
    within(LIMIT, || {
        // No machine is slow enough for a wait of three milliseconds to take an hour.
        let long = Duration::from_secs(3_600);
        let runtime = Runtime::builder().carriers(2).pin_threshold(long).build();
        let runtime = runtime.expect("a runtime of two carriers");
        let (_layer, recorder) = FlightRecorder::builder()
            .runtime(&runtime)
            .install()
            .expect("it starts");
        pin(&runtime);
        let bytes = recorder
            .dump_to(Vec::new(), None)
            .expect("a vector takes every byte");
        assert_eq!(events(&bytes, "jdk.VirtualThreadStart"), 0);
        assert!(pins(&bytes).is_empty());
        recorder.set(Settings::staging());
        pin(&runtime);
        let bytes = recorder
            .dump_to(Vec::new(), None)
            .expect("a vector takes every byte");
        assert_eq!(events(&bytes, "jdk.VirtualThreadStart"), 1);
        assert_eq!(pins(&bytes).len(), 1);
    });
}

#[test]
fn a_pin_that_lasts_is_in_the_dump() {
    within(LIMIT, || {
        let runtime = runtime();
        let builder = FlightRecorder::builder()
            .runtime(&runtime)
            .settings(Settings::test());
        let (_layer, recorder) = builder.install().expect("it starts");
        let (tell, told) = mpsc::channel();
        let thread = runtime.spawn(move || {
            let orders = Monitor::named("orders", ());
            let _held = orders.enter();
            tell.send(()).expect("the test waits");
            vt_runtime::thread::park();
        });
        told.recv().expect("the virtual thread runs");
        // It is about to wait: a dump made a moment later has it.
        let open = loop {
            let bytes = recorder
                .dump_to(Vec::new(), None)
                .expect("a vector takes every byte");
            let live: Vec<_> = pins(&bytes).into_iter().filter(|pin| pin.live).collect();
            if !live.is_empty() {
                break live;
            }
        };
        assert_eq!(
            (open[0].lock.as_str(), open[0].reason.as_str()),
            ("orders", "monitor")
        );
        thread.thread().unpark();
        thread.join().expect("it does not panic");
    });
}

#[test]
fn the_program_s_spans_and_events_are_recorded_with_the_pin_inside() {
    within(LIMIT, || {
        let runtime = runtime();
        let builder = FlightRecorder::builder()
            .runtime(&runtime)
            .settings(Settings::test());
        let (layer, recorder) = builder.install().expect("it starts");
        let dispatch = tracing::Dispatch::new(tracing_subscriber::registry().with(layer));
        runtime.run(|| {
            tracing::dispatcher::with_default(&dispatch, || {
                let span = tracing::info_span!("request", path = "/orders");
                let _entered = span.enter();
                tracing::warn!(attempt = 2, "payment is slow");
            });
        });
        let bytes = recorder
            .dump_to(Vec::new(), None)
            .expect("a vector takes every byte");
        let mut told = Vec::new();
        let mut reader = Reader::new(Cursor::new(&bytes)).expect("a recording");
        while let Some(mut chunk) = reader.next_chunk().expect("readable") {
            chunk
                .each(|event| {
                    let text = |name| event.text(name).unwrap_or_default();
                    match event.name() {
                        "vt.Span" => told.push((text("name"), text("fields"))),
                        "vt.Event" => told.push((text("message"), text("fields"))),
                        _ => {}
                    }
                })
                .expect("readable");
        }
        told.sort();
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            told,
            [
                pair("payment is slow", "attempt=2"),
                pair("request", "path=/orders")
            ]
        );
    });
}

#[test]
fn a_dump_that_cannot_be_written_says_why_and_leaves_the_old_one() {
    within(LIMIT, || {
        let runtime = runtime();
        let (_layer, recorder) = FlightRecorder::builder()
            .runtime(&runtime)
            .install()
            .expect("it starts");
        let error = recorder
            .dump("no/such/folder/x.jfr")
            .expect_err("no such folder");
        assert!(
            error
                .to_string()
                .contains("the folder no/such/folder does not exist"),
            "{error}"
        );
        // A disk that is full, where the system offers one.
        if let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") {
            let error = recorder.dump_to(full, None).expect_err("it takes no byte");
            assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
        }
        assert!(recorder.stats().last_error.is_some());
        let missing = FlightRecorder::builder()
            .runtime(&runtime)
            .dump_on_exit("no/such/x.jfr");
        let error = missing.install().expect_err("no such folder").to_string();
        assert!(error.contains("no/such"), "{error}");
    });
}

#[test]
fn an_exit_leaves_a_dump() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("exit.jfr");
    let child = std::env::current_exe().expect("the test's own path");
    let status = Command::new(child)
        .args(["--exact", "exits_with_a_dump", "--ignored", "--nocapture"])
        .env("VT_TEST_DUMP", &path)
        .status()
        .expect("the test can run itself");
    assert_eq!(status.code(), Some(7));
    assert_eq!(
        pins(&std::fs::read(&path).expect("a dump was written")).len(),
        1
    );
}

#[test]
#[ignore = "the child of an_exit_leaves_a_dump"]
fn exits_with_a_dump() {
    let path = std::env::var_os("VT_TEST_DUMP").expect("the parent says where");
    let builder = FlightRecorder::builder().settings(Settings::test());
    let _recorder = builder.dump_on_exit(path).install().expect("it starts");
    pin(Runtime::global());
    std::process::exit(7);
}

#[test]
fn a_client_of_the_same_user_gets_facts_dumps_and_another_threshold() {
    within(LIMIT, || {
        let runtime = runtime();
        let builder = FlightRecorder::builder()
            .runtime(&runtime)
            .settings(Settings::test());
        let (_layer, recorder) = builder.attach(true).install().expect("it starts");
        pin(&runtime);
        let process = Process::find(std::process::id()).expect("it listens");
        let status = process.status().expect("it answers");
        assert!(status.contains("settings test\n"), "{status}");
        assert_eq!(pins(&process.dump(None).expect("it answers")).len(), 1);
        process.set_pin_threshold("5ms").expect("it answers");
        assert_eq!(runtime.pin_threshold(), Duration::from_millis(5));
        let refused = process
            .set_pin_threshold("soon")
            .expect_err("no span")
            .to_string();
        assert!(refused.contains("`soon` is no span"), "{refused}");
        let metrics = process.metrics().expect("it answers");
        assert!(
            metrics.contains("vthread_pinned_seconds_count{reason=\"monitor\"} 1\n"),
            "{metrics}"
        );
        assert!(metrics.ends_with("# EOF\n"));
        assert_eq!(metrics, recorder.metrics());
        assert_eq!(process.threads().expect("it answers"), "");
        // One recorder for all of it: a second one in this process would listen beside it.
        send_nonsense(&process);
        let status = process.status().expect("it still answers");
        assert!(status.contains("settings test"), "{status}");
    });
}

/// Clients that keep to no protocol are turned away.
fn send_nonsense(process: &Process) {
    use std::io::{Read, Write};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;
    let mode = |path: &Path| {
        std::fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(process.socket()), 0o600);
    assert_eq!(mode(process.socket().parent().expect("a folder")), 0o700);
    let mut random = 0x5eed_u64;
    let mut noise: Vec<u8> = (0..100_000)
        .map(|_| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 56) as u8
        })
        .collect();
    noise.retain(|byte| *byte != b'\n');
    let requests: [&[u8]; 7] = [
        b"",
        b"\n",
        b"vt-flight 2 status\n",
        b"vt-flight 1 shutdown\n",
        b"vt-flight 1 dump ../../etc/passwd\n",
        b"\xff\xfe\n",
        &noise,
    ];
    for request in requests {
        let mut client = UnixStream::connect(process.socket()).expect("it listens");
        // It may have hung up already: that is an answer too.
        let _ = client.write_all(request);
        let _ = client.shutdown(std::net::Shutdown::Write);
        let mut reply = Vec::new();
        let _ = client.read_to_end(&mut reply);
        assert!(!reply.starts_with(b"ok"), "{request:?}");
    }
}
