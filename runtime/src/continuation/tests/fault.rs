//! Overflow and other faults, each in a child process.

use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;

use super::super::*;
use super::child::{Ending, each_in_a_child};
use super::{Setup, start_on};

fn run(setup: Setup, name: &str, body: impl FnOnce() + 'static) {
    install_fault_handler();
    let mut continuation = start_on(&setup.pool(100), name, 64 << 10, body);
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

/// Overflows the stack it is called on.
fn overflow() {
    assert_eq!(recurse(0), 0);
}

fn is_our_overflow(setup: Setup, ending: &Ending) {
    let said = &ending.said;
    assert_eq!(
        ending.status.signal(),
        Some(libc::SIGABRT),
        "{setup:?}: {said}"
    );
    assert!(
        said.contains("'deep' (#7) has overflowed its stack"),
        "{setup:?}: {said}"
    );
    assert!(said.contains("stack overflow"), "{setup:?}: {said}");
}

fn is_a_plain_segfault(setup: Setup, ending: &Ending) {
    let said = &ending.said;
    assert_eq!(
        ending.status.signal(),
        Some(libc::SIGSEGV),
        "{setup:?}: {said}"
    );
    assert!(!said.contains("overflow"), "{setup:?}: {said}");
    assert!(
        !said.contains("generator"),
        "{setup:?}: a backtrace in signal context: {said}"
    );
}

#[test]
fn overflow_is_fatal_with_the_name() {
    let act = |setup| run(setup, "deep", overflow);
    each_in_a_child(
        "fault::overflow_is_fatal_with_the_name",
        act,
        is_our_overflow,
    );
}

#[test]
fn overflow_after_a_switch_is_fatal_too() {
    let act = |setup| {
        run(setup, "deep", || {
            suspend();
            overflow();
        });
    };
    each_in_a_child(
        "fault::overflow_after_a_switch_is_fatal_too",
        act,
        is_our_overflow,
    );
}

#[test]
fn overflow_is_seen_on_a_thread_without_a_signal_stack() {
    let act = |setup| {
        take_signal_stack_away();
        run(setup, "deep", overflow);
    };
    each_in_a_child(
        "fault::overflow_is_seen_on_a_thread_without_a_signal_stack",
        act,
        is_our_overflow,
    );
}

#[test]
fn a_large_c_frame_does_not_jump_the_guard() {
    let act = |setup| {
        run(setup, "deep", || {
            let low = stack_bounds().expect("a continuation is mounted").start;
            black_box(large_frame_at_the_end(low));
        });
    };
    each_in_a_child(
        "fault::a_large_c_frame_does_not_jump_the_guard",
        act,
        is_our_overflow,
    );
}

#[test]
fn a_null_pointer_is_no_overflow() {
    let act = |setup| run(setup, "deep", follow_a_null_pointer);
    each_in_a_child(
        "fault::a_null_pointer_is_no_overflow",
        act,
        is_a_plain_segfault,
    );
}

#[test]
fn a_fault_signal_that_was_sent_has_its_default_action() {
    let act = |setup| run(setup, "deep", || raise(libc::SIGSEGV));
    each_in_a_child(
        "fault::a_fault_signal_that_was_sent_has_its_default_action",
        act,
        |setup, ending| {
            // std's handler, which is there before ours, takes a signal that was sent for a fault and
            // waits for it to come again; so the child goes on. What counts is that we claim nothing.
            assert!(
                !ending.said.contains("overflow"),
                "{setup:?}: {}",
                ending.said
            );
        },
    );
}

#[test]
fn an_os_threads_overflow_is_stds() {
    let act = |setup| {
        run(setup, "deep", || ());
        let thread = std::thread::Builder::new().name("plain".to_owned());
        let _ = thread.spawn(overflow).expect("one more thread").join();
    };
    each_in_a_child(
        "fault::an_os_threads_overflow_is_stds",
        act,
        |setup, ending| {
            let said = &ending.said;
            assert_eq!(
                ending.status.signal(),
                Some(libc::SIGABRT),
                "{setup:?}: {said}"
            );
            assert!(said.contains("thread 'plain'"), "{setup:?}: {said}");
            assert!(!said.contains("virtual thread"), "{setup:?}: {said}");
        },
    );
}

#[test]
fn a_handler_from_before_gets_the_faults_unchanged() {
    let act = |setup| {
        install_handler_that_exits(libc::SIGSEGV);
        run(setup, "deep", follow_a_null_pointer);
    };
    each_in_a_child(
        "fault::a_handler_from_before_gets_the_faults_unchanged",
        act,
        |setup, ending| assert_eq!(ending.status.code(), Some(42), "{setup:?}: {}", ending.said),
    );
}

#[test]
fn a_handler_from_before_gets_bus_errors() {
    let act = |setup| {
        install_handler_that_exits(libc::SIGBUS);
        run(setup, "deep", read_beyond_a_file);
    };
    each_in_a_child(
        "fault::a_handler_from_before_gets_bus_errors",
        act,
        |setup, ending| {
            assert_eq!(ending.status.code(), Some(42), "{setup:?}: {}", ending.said);
        },
    );
}

#[test]
fn an_unwinding_body_aborts() {
    let act = |setup| run(setup, "loose", || std::panic::resume_unwind(Box::new(())));
    each_in_a_child("fault::an_unwinding_body_aborts", act, |setup, ending| {
        let said = &ending.said;
        assert_eq!(
            ending.status.signal(),
            Some(libc::SIGABRT),
            "{setup:?}: {said}"
        );
        assert!(said.contains("a panic left the body"), "{setup:?}: {said}");
    });
}

fn raise(signal: i32) {
    #[expect(unsafe_code, reason = "sends this thread a signal")]
    // SAFETY: no preconditions.
    unsafe {
        libc::raise(signal)
    };
}

#[expect(unsafe_code, reason = "plays an OS thread that std did not start")]
fn take_signal_stack_away() {
    let none = libc::stack_t {
        ss_sp: std::ptr::null_mut(),
        ss_flags: libc::SS_DISABLE,
        ss_size: 0,
    };
    // SAFETY: no handler runs on this thread's signal stack.
    unsafe { libc::sigaltstack(&raw const none, std::ptr::null_mut()) };
}

/// Installs a handler that ends the process with 42 if it is called as the kernel would call it.
#[expect(unsafe_code, reason = "plays a program with a handler of its own")]
fn install_handler_that_exits(signal: i32) {
    extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel's description, passed on.
        let info = unsafe { &*info };
        let as_the_kernel_would = info.si_signo == signal && info.si_code > 0 && !context.is_null();
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(if as_the_kernel_would { 42 } else { 1 }) };
    }
    // SAFETY: all-zero is a valid value of this plain C struct.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO;
    // SAFETY: the handler has the signature SA_SIGINFO asks for.
    unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
}

/// A bus error: a mapping of a file that has no such page.
#[expect(unsafe_code, reason = "faults on purpose")]
fn read_beyond_a_file() {
    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::mm::{MapFlags, ProtFlags, mmap};
    let empty = memfd_create("empty", MemfdFlags::empty()).expect("memory files are supported");
    // SAFETY: no address is asked for, so the new mapping replaces nothing.
    let memory = unsafe {
        mmap(
            std::ptr::null_mut(),
            4096,
            ProtFlags::READ,
            MapFlags::SHARED,
            &empty,
            0,
        )
    }
    .expect("one more mapping");
    // SAFETY: not safe: the fault is the test.
    black_box(unsafe { memory.cast::<u8>().read_volatile() });
}
