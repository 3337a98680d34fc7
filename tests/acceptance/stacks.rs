//! Stack overflow and the limit on stacks, as the acceptance cases state them. Each runs in a program of
//! its own, because it ends the process or uses up what all tests share.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use vt_runtime::Stacks;
use vt_tests::{BACKENDS, Deadline};

/// `SIGABRT` and `SIGSEGV`.
const ABORTED: Option<i32> = Some(6);
const FAULTED: Option<i32> = Some(11);

fn faulty(case: &str, stacks: Stacks) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_faulty"))
        .args([case, &stacks.to_string()])
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, format!("{stacks}: {said}"))
}

#[test]
fn oc_15_overflow_in_rust_is_fatal_and_names_the_thread() {
    overflow("rust");
}

#[test]
fn oc_15_overflow_in_c_without_stack_probes_is_fatal_and_names_the_thread() {
    overflow("c");
}

fn overflow(case: &str) {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (output, said) = faulty(case, stacks);
        assert_eq!(output.status.signal(), ABORTED, "{said}");
        assert!(said.contains("stack overflow"), "{said}");
        assert!(said.contains("'deep'"), "{said}");
        assert!(
            !said.contains("joined"),
            "the lock is held for ever: {said}"
        );
    }
}

#[test]
fn oc_15_a_null_pointer_is_no_overflow() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (output, said) = faulty("null", stacks);
        assert_eq!(output.status.signal(), FAULTED, "{said}");
        assert!(!said.contains("overflow"), "{said}");
        assert!(!said.contains("joined"), "{said}");
    }
}

#[test]
fn oc_15_overflow_of_the_main_thread_is_stds_to_tell() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (output, said) = faulty("main", stacks);
        assert_eq!(output.status.signal(), ABORTED, "{said}");
        assert!(said.contains("thread 'main'"), "{said}");
        assert!(said.contains("has overflowed its stack"), "{said}");
        assert!(!said.contains("virtual thread"), "{said}");
    }
}

#[test]
fn oc_16_the_limit_on_stacks_is_an_error_and_the_rest_goes_on() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (output, said) = faulty("fill", stacks);
        assert!(output.status.success(), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}
