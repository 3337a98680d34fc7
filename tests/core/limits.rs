//! What the system refuses is an error that names the limit and what is live, and the rest goes on.

use std::os::unix::process::ExitStatusExt;

use vt_runtime::thread::{self, Builder};
use vt_runtime::{BuildError, Runtime, SpawnError};
use vt_tests::{BACKENDS, Deadline, Gate};

use crate::in_a_program;

#[test]
fn refused_address_space_is_an_error_of_the_spawn() {
    let _deadline = Deadline::after(std::time::Duration::from_secs(120));
    for stacks in BACKENDS {
        let (output, said) = in_a_program("address-space", stacks, Some("-v 1500000"));
        assert!(output.status.success(), "{said}");
        assert!(said.contains("ulimit -v"), "names the cure: {said}");
    }
}

#[test]
fn refused_os_threads_are_an_error_of_the_build() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        // By address space, of which each takes much: the limit on processes does not hold for the superuser.
        let limit = "-v 1500000; export RUST_MIN_STACK=250000000";
        let (output, said) = in_a_program("carriers", stacks, Some(limit));
        assert!(output.status.success(), "{said}");
        assert!(said.contains("ulimit -u"), "names the cure: {said}");
    }
}

#[test]
fn an_exit_inside_a_thread_ends_the_process_with_its_code() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (output, said) = in_a_program("exit", stacks, None);
        assert_eq!(output.status.code(), Some(7), "{said}");
        assert_eq!(output.status.signal(), None, "{said}");
    }
}

#[test]
fn a_dedicated_thread_has_an_os_thread_of_its_own() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder()
            .stacks(stacks)
            .carriers(1)
            .max_carriers(2);
        let runtime = runtime.build().expect("a carrier starts");
        let dedicated = || Builder::new().dedicated_thread();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let blocked = dedicated().spawn_in(&runtime, move || {
            // Blocks its OS thread, which nobody else lives on.
            let ended = released.recv();
            // What it spawns runs elsewhere.
            let child = thread::spawn(thread::current_carrier).join();
            (
                ended.is_ok(),
                thread::current_carrier(),
                child.expect("no panic"),
            )
        });
        let blocked = blocked.expect("one more carrier may start");
        let other = runtime.spawn(thread::current_carrier);
        assert_eq!(other.join().expect("no panic"), Some(0));
        let refused = dedicated().spawn_in(&runtime, || ()).expect_err("no third");
        let text = refused.to_string();
        assert!(
            matches!(
                refused,
                SpawnError::NoCarrier {
                    live: 2,
                    max: 2,
                    error: None
                }
            ),
            "{text}"
        );
        assert!(
            text.contains("limit 2") && text.contains("max_carriers"),
            "{text}"
        );
        release.send(()).expect("it waits");
        assert_eq!(blocked.join().expect("no panic"), (true, Some(1), Some(0)));
        // Its carrier serves the next one. It is free a moment after the join.
        let next = loop {
            match dedicated().spawn_in(&runtime, || {
                (thread::current_carrier(), thread::try_yield())
            }) {
                Ok(next) => break next,
                Err(_still_taken) => std::thread::yield_now(),
            }
        };
        assert_eq!(next.join().expect("no panic"), (Some(1), true));
        assert_eq!(runtime.metrics().carriers, 2);
        assert!(
            runtime
                .shutdown(std::time::Duration::from_secs(5))
                .is_complete()
        );
    }
}

#[test]
fn a_thread_that_joins_itself_is_told_so() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(1).build();
        let runtime = runtime.expect("a carrier starts");
        let (give, given) = vt_runtime::sync::mpsc::channel::<thread::JoinHandle<()>>();
        let (said, hears) = std::sync::mpsc::channel();
        let itself = runtime.spawn(move || {
            let own = given.recv().expect("it is given its own handle");
            let joined = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| own.join()));
            let payload = joined.expect_err("it would wait for ever");
            let text = payload.downcast::<String>().expect("a text");
            said.send(*text).expect("the test listens");
        });
        give.send(itself).expect("it waits");
        let text = hears.recv().expect("it says something");
        assert!(text.contains("cannot join itself"), "{text}");
    }
}

#[test]
fn settings_that_make_no_runtime_are_refused_with_their_cure() {
    let _deadline = Deadline::standard();
    let builder = || Runtime::builder().carriers(2);
    for (builder, complaint) in [
        (builder().event_capacity(usize::MAX), "at most 65536"),
        (builder().event_capacity(0), "at least one"),
        (
            builder().max_carriers(1),
            "raise the one or lower the other",
        ),
    ] {
        let error = builder.build().expect_err(complaint);
        assert!(matches!(error, BuildError::Invalid(_)), "{error:?}");
        assert!(error.to_string().contains(complaint), "{error}");
    }
}

#[test]
fn names_cannot_break_the_lines_of_a_report() {
    let _deadline = Deadline::standard();
    let runtime = Runtime::builder()
        .carriers(1)
        .build()
        .expect("a carrier starts");
    let gate = Gate::new();
    let passes = gate.clone();
    let thread = Builder::new()
        .name("a\nb\u{1b}[31m\0 ü")
        .spawn_in(&runtime, move || {
            while !passes.is_open() {
                thread::park();
            }
        });
    let thread = thread.expect("spawned");
    assert_eq!(thread.thread().name(), Some("a\\nb\\u{1b}[31m\\u{0} ü"));
    let shown = thread.thread().to_string();
    assert!(!shown.contains(char::is_control), "{shown:?}");
    gate.open();
    thread.thread().unpark();
    thread.join().expect("no panic");
}

#[test]
fn a_stack_size_no_machine_has_is_an_error_of_the_spawn() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(1).build();
        let runtime = runtime.expect("a carrier starts");
        for size in [
            1 << 40,
            1 << 47,
            usize::MAX / 2,
            usize::MAX - 4096,
            usize::MAX,
        ] {
            let refused = Builder::new().stack_size(size).spawn_in(&runtime, || ());
            let refused = refused.map(drop).expect_err("no such stack");
            assert!(
                refused.to_string().contains("stack size asked for"),
                "{stacks:?} {size}: {refused}"
            );
        }
        runtime.spawn(|| ()).join().expect("the rest goes on");
    }
}

#[test]
fn a_tiny_stack_is_large_enough_for_a_small_thread() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        for size in [0, 1, 4096] {
            let builder = Runtime::builder().stacks(stacks).stack_size(size);
            let runtime = builder.carriers(1).build().expect("a carrier starts");
            let thread = runtime.spawn(|| {
                thread::yield_now();
                7
            });
            assert_eq!(thread.join().expect("no panic"), 7, "{stacks:?} {size}");
            let thread = Builder::new().stack_size(size).spawn_in(&runtime, || 8);
            let thread = thread.expect("a small stack");
            assert_eq!(thread.join().expect("no panic"), 8, "{stacks:?} {size}");
        }
    }
}
