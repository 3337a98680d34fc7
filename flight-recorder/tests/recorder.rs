//! A recorder over a real runtime: pins become files that readers agree on.

#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::io::Cursor;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use scene::{LIMIT, each, events, pin, pins, runtime, within};
use tracing_subscriber::prelude::*;
use vt_flight_recorder::{FlightRecorder, Reader, Settings};
use vt_runtime::Runtime;
use vt_runtime::event::Event;
use vt_runtime::sync::Monitor;

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
        // It was given no name: none is stored, and the runtime's is shown.
        assert_eq!(pin.thread.name, format!("vt-{}", pin.thread.id - 1));
        each(&bytes, |event| {
            let thread = event.get("eventThread");
            let name = thread
                .as_ref()
                .map(|thread| thread.member("javaName").clone());
            assert!(name.is_none_or(|name| name.text().is_none_or(str::is_empty)));
        });
        assert!(pin.duration_ns >= 3_000_000, "{}", pin.duration_ns);
        assert!(
            pin.blocked_at.contains("tests/scene/mod.rs:"),
            "{}",
            pin.blocked_at
        );
        assert!(
            pin.pinned_at.contains("tests/scene/mod.rs:"),
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

/// Nobody declared it, so its line is found by its stack; the lint's findings are joined on it.
#[test]
fn undeclared_blocking_has_the_line_of_the_application() {
    within(LIMIT, || {
        let runtime = runtime();
        let builder = FlightRecorder::builder()
            .runtime(&runtime)
            .settings(Settings::test());
        let (_layer, recorder) = builder.install().expect("it starts");
        let line = line!() + 3;
        let blocked = runtime.spawn(|| {
            let (_open, closed) = mpsc::channel::<()>();
            assert!(closed.recv_timeout(Duration::from_millis(150)).is_err());
        });
        blocked.join().expect("no panic");
        assert!(runtime.flush_events());
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("undeclared.jfr");
        recorder.dump(&path).expect("it is written");
        let pins = pins(&std::fs::read(&path).expect("it can be read"));
        let [pin] = &pins[..] else {
            panic!("one pin: {pins:?}")
        };
        let here = format!("{}:{line}:", file!());
        assert!(
            pin.blocked_at.starts_with(&here),
            "{} {here}",
            pin.blocked_at
        );
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
        // Too short to be recorded, but counted, by place and by lock.
        for name in ["vt.PinSite", "vt.PinHolder"] {
            let mut found = Vec::new();
            each(&bytes, |event| {
                if event.name() == name {
                    let number = |name| event.integer(name).unwrap_or(0);
                    found.push((
                        event.text("lock"),
                        number("count"),
                        number("longest"),
                        number("p99"),
                    ));
                }
            });
            let [(lock, count, longest, p99)] = &found[..] else {
                panic!("{name}: {found:?}");
            };
            assert_eq!((lock.as_deref(), *count), (Some("orders"), 1));
            assert!(*longest >= 3_000_000 && p99 == longest, "{found:?}");
        }
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
fn a_pin_shows_its_request_while_that_is_open_and_after() {
    within(LIMIT, || {
        let runtime = runtime();
        let builder = FlightRecorder::builder()
            .runtime(&runtime)
            .settings(Settings::test());
        let (layer, recorder) = builder.install().expect("it starts");
        let dispatch = tracing::Dispatch::new(tracing_subscriber::registry().with(layer));
        let spans = |recorder: &FlightRecorder| {
            let bytes = recorder.dump_to(Vec::new(), None);
            let pins = pins(&bytes.expect("a vector takes every byte"));
            pins.into_iter()
                .map(|pin| pin.span_text)
                .collect::<Vec<_>>()
        };
        let inside = recorder.clone();
        let open = runtime.run(|| {
            tracing::dispatcher::with_default(&dispatch, || {
                let request =
                    tracing::info_span!("request", path = "/orders", user = tracing::field::Empty);
                request.record("user", 7);
                let _entered = request.enter();
                let query = tracing::info_span!("query");
                query.in_scope(|| {
                    let orders = Monitor::named("orders", ());
                    let _held = orders.enter();
                    vt_runtime::thread::sleep(Duration::from_millis(1));
                });
                vt_runtime::blocking(move || spans(&inside))
            })
        });
        let expected = "request{path=/orders user=7}:query";
        assert_eq!(open, [expected]);
        assert_eq!(spans(&recorder), [expected]);
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

/// Tells of each event of the runtime with that name.
struct Told(&'static str, mpsc::Sender<()>);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Told {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        if event.metadata().name() == self.0 {
            // Nobody listens any more once the first has come.
            let _ = self.1.send(());
        }
    }
}

#[test]
fn a_warning_for_people_who_read_logs_is_neither_recorded_nor_counted_as_lost() {
    within(LIMIT, || {
        let (tell, told) = mpsc::channel();
        let layer = Told("CarrierMostlyPinned", tell);
        let dispatch = tracing::Dispatch::new(tracing_subscriber::registry().with(layer));
        let builder = Runtime::builder().carriers(1).max_carriers(1);
        let runtime = builder.dispatch(dispatch).build().expect("a carrier");
        let builder = FlightRecorder::builder()
            .runtime(&runtime)
            .settings(Settings::test());
        let (_layer, recorder) = builder.install().expect("it starts");
        runtime.run(move || {
            while told.try_recv().is_err() {
                vt_runtime::pinned::critical("most of the time", || {
                    vt_runtime::thread::sleep(Duration::from_millis(50));
                });
            }
        });
        let bytes = recorder
            .dump_to(Vec::new(), None)
            .expect("a vector takes every byte");
        assert!(!pins(&bytes).is_empty());
        each(&bytes, |event| {
            assert_ne!(event.name(), "vt.EventsDropped");
            assert!(!event.name().contains("MostlyPinned"), "{}", event.name());
        });
        assert!(recorder.stats().lost.is_empty());
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
