//! Overflow and other faults, each in a child process: this test binary, run again for one test.

use std::hint::black_box;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use super::*;

const CHILD: &str = "VT_FAULT_CHILD";

/// How a child ended, and what it said.
struct Ending {
    signal: Option<i32>,
    said: String,
}

/// In the child: does `act` on the backend the parent asked for. In the parent: how that ended.
fn in_child(test: &str, kind: Stacks, act: impl FnOnce(Stacks)) -> Ending {
    if let Ok(kind) = std::env::var(CHILD) {
        act(kind.parse().expect("the parent names a backend"));
        std::process::exit(0);
    }
    let mut child = Command::new(std::env::current_exe().expect("a test binary has a path"))
        .args([
            "--exact",
            &format!("continuation::fault_tests::{test}"),
            "--nocapture",
        ])
        .env(CHILD, kind.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the test binary runs");
    let mut stderr = child.stderr.take().expect("it is piped");
    let (done, over) = mpsc::channel();
    let reader = std::thread::Builder::new()
        .spawn(move || {
            let mut said = String::new();
            let _ = stderr.read_to_string(&mut said);
            let _ = done.send(());
            said
        })
        .expect("one more thread");
    if over.recv_timeout(Duration::from_secs(30)).is_err() {
        let _ = child.kill();
        panic!("{test} hangs on {kind}");
    }
    let status = child
        .wait()
        .expect("the child ends when its stderr is closed");
    Ending {
        signal: status.signal(),
        said: reader.join().expect("reading does not panic"),
    }
}

fn run(kind: Stacks, name: &str, body: impl FnOnce() + 'static) {
    install_fault_handler();
    let pool = Arc::new(StackPool::new(kind, Some(100)));
    let place = pool.reserve(64 << 10).expect("the pool is empty");
    let label = ThreadLabel {
        id: 7,
        name: Some(name.into()),
    };
    let mut continuation = Continuation::new(place, label, body).expect("there is memory");
    while continuation.resume() == Step::Suspended {}
}

#[inline(never)]
#[expect(unconditional_recursion, reason = "overflows the stack on purpose")]
fn recurse(depth: u64) -> u64 {
    let block = black_box([depth; 32]);
    recurse(depth + 1) + black_box(block)[3]
}

/// Goes down until fewer than 12 KiB are left, then does what a C function with a large frame and no
/// probes does: moves the stack pointer far down and writes there.
#[inline(never)]
fn large_frame_at_the_end(low: usize) -> u64 {
    let block = black_box([1_u64; 128]);
    if (&raw const block).addr() > low + (12 << 10) {
        return large_frame_at_the_end(low) + black_box(block)[5];
    }
    write_below_stack_pointer();
    black_box(block)[5]
}

#[expect(unsafe_code, reason = "plays a C function without stack probes")]
fn write_below_stack_pointer() {
    // SAFETY: the write is meant to fault; where it does not, the test fails.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("sub rsp, 49152", "mov qword ptr [rsp], 1", "add rsp, 49152");
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!(
            "sub sp, sp, #12, lsl #12",
            "str xzr, [sp]",
            "add sp, sp, #12, lsl #12"
        );
    }
}

#[expect(unsafe_code, reason = "faults on purpose")]
fn follow_a_null_pointer() {
    let null = black_box(std::ptr::null::<u64>());
    // SAFETY: not safe: the fault is the test.
    black_box(unsafe { null.read_volatile() });
}

fn both(test: &str, act: impl Fn(Stacks) + Copy, check: impl Fn(Stacks, &Ending)) {
    for kind in [Stacks::Dense, Stacks::Generator] {
        check(kind, &in_child(test, kind, act));
    }
}

fn is_our_overflow(kind: Stacks, ending: &Ending) {
    assert_eq!(
        ending.signal,
        Some(libc::SIGABRT),
        "{kind}: {}",
        ending.said
    );
    assert!(
        ending.said.contains("'deep' (#7) has overflowed its stack"),
        "{kind}: {}",
        ending.said
    );
    assert!(
        ending.said.contains("stack overflow"),
        "{kind}: {}",
        ending.said
    );
}

#[test]
fn overflow_is_fatal_with_the_name() {
    both(
        "overflow_is_fatal_with_the_name",
        |kind| run(kind, "deep", || assert_eq!(recurse(0), 0)),
        is_our_overflow,
    );
}

#[test]
fn a_large_c_frame_does_not_jump_the_guard() {
    let act = |kind| {
        run(kind, "deep", || {
            let low = stack_bounds().expect("a continuation is mounted").start;
            black_box(large_frame_at_the_end(low));
        });
    };
    both(
        "a_large_c_frame_does_not_jump_the_guard",
        act,
        is_our_overflow,
    );
}

#[test]
fn a_null_pointer_is_no_overflow() {
    both(
        "a_null_pointer_is_no_overflow",
        |kind| run(kind, "deep", follow_a_null_pointer),
        |kind, ending| {
            assert_eq!(
                ending.signal,
                Some(libc::SIGSEGV),
                "{kind}: {}",
                ending.said
            );
            assert!(!ending.said.contains("overflow"), "{kind}: {}", ending.said);
            assert!(
                !ending.said.contains("generator"),
                "{kind}: {}",
                ending.said
            );
        },
    );
}

#[test]
fn an_os_threads_overflow_is_stds() {
    let act = |kind| {
        run(kind, "deep", || ());
        let thread = std::thread::Builder::new().name("plain".to_owned());
        let _ = thread
            .spawn(|| black_box(recurse(0)))
            .expect("one more thread")
            .join();
    };
    both("an_os_threads_overflow_is_stds", act, |kind, ending| {
        assert_eq!(
            ending.signal,
            Some(libc::SIGABRT),
            "{kind}: {}",
            ending.said
        );
        assert!(
            ending.said.contains("thread 'plain'"),
            "{kind}: {}",
            ending.said
        );
        assert!(
            !ending.said.contains("virtual thread"),
            "{kind}: {}",
            ending.said
        );
    });
}

#[test]
fn an_unwinding_body_aborts() {
    let act = |kind| run(kind, "loose", || std::panic::resume_unwind(Box::new(())));
    both("an_unwinding_body_aborts", act, |kind, ending| {
        assert_eq!(
            ending.signal,
            Some(libc::SIGABRT),
            "{kind}: {}",
            ending.said
        );
        assert!(
            ending.said.contains("a panic left the body"),
            "{kind}: {}",
            ending.said
        );
    });
}
