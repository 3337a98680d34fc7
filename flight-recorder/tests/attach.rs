//! The socket by which a running process is asked: who is answered, and what hostile clients get.

#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::path::Path;
use std::time::Duration;

use scene::{LIMIT, pin, pins, runtime, within};
use vt_flight_recorder::attach::Process;
use vt_flight_recorder::{FlightRecorder, Settings};

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
