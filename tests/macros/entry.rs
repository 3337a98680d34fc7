//! `#[vt_runtime::test]` and `#[vt_runtime::main]`: runtime, outcome, and the word on pins.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use vt_runtime::__private::{Main, Test};
use vt_runtime::{Runtime, pinned, thread};

const MOMENT: Duration = Duration::from_millis(1);

/// Where the pin of `pinned_wait` is taken and where it waits.
const PINNED_WAIT: u32 = line!() + 2;
fn pinned_wait() {
    pinned::critical("the test's region", || thread::sleep(MOMENT));
}

#[vt_runtime::test]
fn the_body_is_a_virtual_thread() {
    assert!(thread::is_virtual());
}

#[vt_runtime::test(carriers = 3)]
fn the_runtime_is_the_tests_own() {
    let own = Runtime::current().expect("on a virtual thread");
    assert_eq!(own.metrics().carriers, 3);
    assert_eq!(own.metrics().live, 1, "no other test's thread lives here");
}

#[vt_runtime::test]
fn a_result_is_an_outcome() -> io::Result<()> {
    Err(io::ErrorKind::Other).or(Ok(()))
}

#[vt_runtime::test]
#[should_panic(expected = "of its own accord")]
fn a_panic_goes_on() {
    panic!("of its own accord");
}

#[vt_runtime::test(should_not_pin)]
#[should_panic(expected = "of its own accord")]
fn a_panic_counts_for_more_than_pins() {
    pinned_wait();
    panic!("of its own accord");
}

#[vt_runtime::test]
#[ignore = "shows that `ignore` stays"]
fn ignored() {
    unreachable!("it is ignored");
}

#[vt_runtime::test(should_not_pin, carriers = 1)]
fn waits_that_unmount_are_no_pins() {
    thread::spawn(|| thread::sleep(MOMENT))
        .join()
        .expect("it sleeps");
    thread::sleep(MOMENT);
}

#[vt_runtime::test(should_not_pin)]
#[should_panic(expected = "should not pin, but 1 wait kept its carrier")]
fn a_pin_is_a_failure() {
    pinned_wait();
}

#[vt_runtime::test(should_not_pin)]
#[should_panic(expected = "inside the critical region `the test's region`")]
fn a_pin_of_a_child_nobody_waits_for_is_a_failure() {
    thread::spawn(pinned_wait);
}

#[vt_runtime::test(should_not_pin(longer_than = "20s"))]
fn a_short_pin_can_be_let_off() {
    pinned_wait();
}

#[vt_runtime::test(should_pin)]
fn a_pin_can_be_wanted() {
    pinned_wait();
}

#[vt_runtime::test(should_pin)]
#[should_panic(expected = "should pin, but no wait kept its carrier")]
fn a_wanted_pin_that_does_not_come_is_a_failure() {
    thread::sleep(MOMENT);
}

#[vt_runtime::test(should_pin(at_most = 2))]
fn as_many_pins_as_allowed() {
    pinned_wait();
    pinned_wait();
}

#[vt_runtime::test(should_pin(at_most = 2))]
#[should_panic(expected = "should pin at most 2 times, but 3 waits kept their carriers")]
fn more_pins_than_allowed() {
    pinned_wait();
    pinned_wait();
    pinned_wait();
}

#[vt_runtime::test(should_pin(longer_than = "20s"))]
#[should_panic(expected = "no wait kept its carrier for 20s or more")]
fn a_short_pin_does_not_count() {
    pinned_wait();
}

#[test]
fn the_failure_names_the_lines_of_the_test() {
    let failed = std::panic::catch_unwind(|| Test::new("named").should_not_pin().run(pinned_wait));
    let text = failed
        .expect_err("it pins")
        .downcast::<String>()
        .expect("a formatted message");
    let place = format!("{}:{PINNED_WAIT}:", file!());
    assert!(text.contains(&format!("pinned at   {place}")), "{text}");
    assert!(text.contains(&format!("blocked at  {place}")), "{text}");
    assert!(
        text.contains("cure        leave the critical region"),
        "{text}"
    );
}

#[test]
fn an_error_becomes_an_exit_code_where_it_is() {
    let not_send = || -> Result<(), std::rc::Rc<str>> { Err("refused".into()) };
    let failure = format!("{:?}", ExitCode::FAILURE);
    assert_eq!(format!("{:?}", Test::new("fails").run(not_send)), failure);
    assert_eq!(
        format!("{:?}", Main::new().carriers(1).run(not_send)),
        failure
    );
    assert_eq!(
        format!("{:?}", Main::new().run(|| ExitCode::from(7))),
        format!("{:?}", ExitCode::from(7))
    );
}

#[test]
fn main_runs_on_the_carriers_it_asks_for() {
    let carriers = || {
        Runtime::current().map_or(0, |runtime| {
            u8::try_from(runtime.metrics().carriers).unwrap_or(0)
        })
    };
    let code = Main::new()
        .carriers(3)
        .run(move || ExitCode::from(carriers()));
    assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(3)));
}

#[vt_runtime::test(should_pin, carriers = 1)]
fn undeclared_blocking_up_to_the_end_counts() {
    // Long enough for two looks from outside on a busy machine.
    let (_open, closed) = std::sync::mpsc::channel::<()>();
    let ended = closed.recv_timeout(Duration::from_millis(150));
    assert!(ended.is_err());
}

#[test]
fn a_watched_closure_tells_its_pins_and_those_of_its_children() {
    let (answer, report) = pinned::watch(|| {
        thread::spawn(pinned_wait);
        pinned_wait();
        7
    });
    assert_eq!((answer, report.count(), report.lost()), (7, 2, 0));
    assert!(report.longest() >= MOMENT && report.total() >= report.longest());
    let text = report.to_string();
    assert!(
        text.starts_with("2 waits kept their carriers\n\n1. virtual thread #"),
        "{text}"
    );
    let place = format!("{}:{PINNED_WAIT}:", file!());
    assert_eq!(text.matches(&place).count(), 4, "{text}");
}

#[test]
fn a_watched_closure_without_pins_has_an_empty_report() {
    let (_, report) = pinned::watch(|| thread::sleep(MOMENT));
    assert!(report.is_empty());
    assert_eq!(report.to_string(), "no wait kept its carrier");
}

#[test]
fn watching_from_a_virtual_thread_leaves_its_runtime_alone() {
    let handle = thread::spawn(|| {
        let (borrowed, report) = pinned::watch(pinned::is_pinned);
        thread::sleep(MOMENT);
        (borrowed, report.count())
    });
    assert_eq!(handle.join().expect("no panic"), (false, 0));
}
