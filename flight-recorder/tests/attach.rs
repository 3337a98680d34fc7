//! The socket by which a running process is asked: who is answered, and what hostile clients get.

#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use scene::{LIMIT, pin, pins, runtime, within};
use vt_flight_recorder::attach::Process;
use vt_flight_recorder::{FlightRecorder, Settings};
use vt_runtime::Runtime;

/// Runs `test` with a recorder that can be reached, the only one of this process meanwhile.
fn attached(test: impl FnOnce(&Runtime, &FlightRecorder, &Process) + Send + 'static) {
    static ONE: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
    within(LIMIT, || {
        let _one = ONE.lock();
        let runtime = runtime();
        let builder = FlightRecorder::builder()
            .runtime(&runtime)
            .settings(Settings::test());
        let (_layer, recorder) = builder.attach(true).install().expect("it starts");
        let process = Process::find(std::process::id()).expect("it listens");
        test(&runtime, &recorder, &process);
        drop(recorder);
        while process.socket().exists() {
            std::thread::yield_now();
        }
    });
}

#[test]
fn a_client_of_the_same_user_gets_facts_dumps_and_another_threshold() {
    attached(|runtime, recorder, process| {
        pin(runtime);
        let status = process.status().expect("it answers");
        assert!(status.contains("settings test\n"), "{status}");
        assert_eq!(pins(&process.dump(None).expect("it answers")).len(), 1);
        process.set_pin_threshold("5ms").expect("it answers");
        process.set_throttle("200/s").expect("it answers");
        assert_eq!(recorder.settings().throttle, Some(200));
        process.set_throttle("fast").expect_err("it is no throttle");
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
        send_nonsense(process);
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

#[test]
fn another_user_is_refused() {
    use rustix::process::Uid;
    use std::io::{Read, Write};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;
    attached(|_, _, process| {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can become another user");
            return;
        }
        let socket = process.socket().to_owned();
        let folder = socket.parent().expect("a folder").to_owned();
        let ask = move || {
            let mut client = UnixStream::connect(&socket)?;
            // It may have hung up already.
            let _ = client.write_all(b"vt-flight 1 status\n");
            let mut reply = Vec::new();
            // Closed with the request unread is an answer too.
            let _ = client.read_to_end(&mut reply);
            Ok::<_, std::io::Error>(reply)
        };
        // Only this thread becomes another user.
        let as_nobody = |ask: Box<dyn FnOnce() -> std::io::Result<Vec<u8>> + Send>| {
            let thread = std::thread::Builder::new().spawn(move || {
                rustix::thread::set_thread_uid(Uid::from_raw(65_534)).expect("root may");
                ask()
            });
            thread
                .expect("a thread can be started")
                .join()
                .expect("no panic")
        };
        let refused = as_nobody(Box::new(ask.clone())).expect_err("the folder is closed");
        assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
        // Even where somebody has opened folder and socket by hand.
        let open = |mode| {
            for path in [&folder, process.socket()] {
                let mode = std::fs::Permissions::from_mode(mode);
                std::fs::set_permissions(path, mode).expect("it is ours");
            }
        };
        open(0o777);
        let refused = as_nobody(Box::new(ask.clone()));
        open(0o700);
        assert_eq!(
            refused.expect("it may connect"),
            [0; 0],
            "another user got an answer"
        );
        assert!(ask().expect("it listens").starts_with(b"ok "));
    });
}

#[test]
fn a_client_that_reads_nothing_keeps_nobody_waiting() {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    attached(|runtime, recorder, process| {
        // More than a socket's buffer holds.
        runtime.run(|| {
            for _ in 0..20_000 {
                vt_runtime::pinned::critical("flood", || {
                    vt_runtime::thread::sleep(Duration::from_nanos(1));
                });
            }
        });
        let mut slow = Vec::new();
        for _ in 0..3 {
            let mut client = UnixStream::connect(process.socket()).expect("it listens");
            client.write_all(b"vt-flight 1 dump\n").expect("it reads");
            slow.push(client);
        }
        // Others are answered, the program is recorded, dumps are written meanwhile.
        let before = recorder.stats().recorded;
        pin(runtime);
        assert!(
            process
                .status()
                .expect("it answers")
                .contains("settings test")
        );
        assert!(recorder.stats().recorded > before);
        let dump = recorder.dump_to(Vec::new(), None);
        assert!(!pins(&dump.expect("a vector takes every byte")).is_empty());
    });
}

#[test]
fn ten_thousand_threads_are_listed_while_the_program_runs() {
    attached(|runtime, recorder, process| {
        let parked: Vec<_> = (0..10_000)
            .map(|_| runtime.spawn(vt_runtime::thread::park))
            .collect();
        let turns = Arc::new(AtomicU64::new(0));
        let counts = Arc::clone(&turns);
        let runs = runtime.spawn(move || {
            while !vt_runtime::thread::current().is_interrupted() {
                counts.fetch_add(1, Ordering::Relaxed);
                vt_runtime::thread::yield_now();
            }
        });
        let past = |seen| {
            while turns.load(Ordering::Relaxed) <= seen {
                std::thread::yield_now();
            }
        };
        past(0);
        let list = process.threads().expect("it answers");
        assert_eq!(list.lines().count(), 10_001);
        let dump = recorder
            .dump_to(Vec::new(), None)
            .expect("a vector takes every byte");
        assert!(pins(&dump).is_empty());
        // It was held up for neither for good.
        past(turns.load(Ordering::Relaxed));
        runs.thread().interrupt();
        runs.join().expect("it does not panic");
        for thread in parked {
            thread.thread().unpark();
            thread.join().expect("it does not panic");
        }
    });
}
