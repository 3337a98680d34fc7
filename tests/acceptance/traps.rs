//! Traps count and locate each undeclared call that blocks a carrier, and nothing else.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use vt_runtime::sync::Monitor;
use vt_runtime::{Runtime, blocking, native, pinned, thread};
use vt_tests::{BACKENDS, Deadline, foreign};
use vt_traps::Report;

const MOMENT: Duration = Duration::from_millis(1);

/// What is trapped while a virtual thread runs `f`. One test at a time: traps see the whole process.
fn trapped(f: fn()) -> Report {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = Runtime::builder().carriers(2).stacks(BACKENDS[0]).build();
    let runtime = runtime.expect("carriers start");
    let ((), report) = vt_traps::watch(|| runtime.run(f)).expect("this program is trapped");
    report
}

fn receive() {
    let (_sender, receiver) = mpsc::channel::<()>();
    assert!(receiver.recv_timeout(MOMENT).is_err());
}

const RECEIVE_LINE: u32 = line!() - 3;

#[test]
fn each_call_is_counted_with_its_line() {
    let _deadline = Deadline::standard();
    let report = trapped(|| (0..50).for_each(|_| receive()));
    assert_eq!(report.calls().len(), 50, "{report}");
    for call in report.calls() {
        assert_eq!(call.call, "syscall futex");
        assert!(call.duration >= MOMENT / 2, "{report}");
        let at = call
            .at
            .as_ref()
            .expect("frame pointers and line tables are kept");
        assert_eq!(
            (&*at.file, at.line),
            ("tests/acceptance/traps.rs", RECEIVE_LINE)
        );
    }
}

#[test]
fn calls_of_std_and_of_c_are_named_with_their_descriptors() {
    let _deadline = Deadline::standard();
    let report = trapped(|| {
        let (mut one, mut other) = UnixStream::pair().expect("a pair");
        let thread = std::thread::Builder::new().spawn(move || {
            std::thread::park_timeout(20 * MOMENT);
            other.write_all(b"x").expect("there is room");
        });
        let count = one.read(&mut [0; 8]).expect("it is sent");
        assert_eq!(count, 1);
        // Whether this one blocks is not to be known.
        vt_traps::allow("joins a helper", || {
            thread.expect("a thread").join().expect("no panic")
        });
    });
    let [call] = report.calls() else {
        panic!("one call: {report}")
    };
    assert!(matches!(call.call, "read" | "recv"), "{report}");
    assert!(call.descriptor.is_some_and(|fd| fd > 2), "{report}");

    let report = trapped(|| foreign::block_undeclared(2));
    assert!(
        !report.is_empty() && report.calls().iter().all(|call| call.call == "nanosleep"),
        "{report}"
    );

    let report = trapped(|| foreign::wait_for_condition_undeclared(2));
    assert!(
        !report.is_empty()
            && report
                .calls()
                .iter()
                .all(|call| call.call == "pthread_cond_timedwait"),
        "{report}"
    );
}

#[test]
fn what_does_not_block_or_is_declared_is_not_told() {
    let _deadline = Deadline::standard();
    let report = trapped(|| {
        // Bytes are there, and there is room.
        let (mut one, mut other) = UnixStream::pair().expect("a pair");
        for _ in 0..100 {
            other.write_all(b"x").expect("there is room");
            one.read_exact(&mut [0]).expect("it is there");
        }
        foreign::spin_undeclared(2);
        // Declared, allowed, or sent away.
        foreign::block(2);
        native::call("receive", receive);
        vt_traps::allow("the test says so", receive);
        blocking(receive);
        // The runtime's own waits, pinned and not.
        thread::sleep(MOMENT);
        let monitor = Monitor::new(());
        let guard = monitor.enter();
        thread::sleep(MOMENT);
        drop(guard);
        pinned::critical("nap", || thread::park_timeout(MOMENT));
    });
    assert!(report.is_empty(), "{report}");
}

#[test]
fn os_threads_signal_handlers_and_vfork_children_pass() {
    let _deadline = Deadline::standard();
    let report = trapped(foreign::sleep_in_handler);
    assert!(report.is_empty(), "{report}");
    let report = trapped(foreign::sleep_in_vfork_child);
    // The parent's own wait for the rest of the child's end may block.
    let of_child = |call: &&vt_traps::Trapped| call.call != "waitpid";
    assert_eq!(
        report.calls().iter().filter(of_child).count(),
        0,
        "{report}"
    );
    let report = trapped(|| {
        let os = std::thread::Builder::new()
            .spawn(receive)
            .expect("a thread");
        vt_traps::allow("joins a helper", || os.join().expect("no panic"));
    });
    assert!(report.is_empty(), "{report}");
}

#[test]
fn a_report_reads_well() {
    let _deadline = Deadline::standard();
    let report = trapped(receive);
    let text = report.to_string();
    let at = format!("at tests/acceptance/traps.rs:{RECEIVE_LINE}:");
    for part in [
        "1 call blocked a carrier\n  syscall futex",
        "virtual thread #",
        &at,
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(trapped(|| ()).to_string(), "no call blocked a carrier");
}
