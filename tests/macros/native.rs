//! `#[native]`: wrappers that behave like the functions they declare, and pin while they run.
#![expect(unsafe_code, reason = "foreign functions are what is tested")]

use std::ffi::{c_char, c_int, c_long, c_void};

use vt_runtime::{Runtime, pinned, thread};

#[vt_runtime::native]
unsafe extern "C" {
    fn strlen(text: *const c_char) -> usize;
    #[vt_runtime::native(quick)]
    safe fn abs(abs: c_int) -> c_int;
    #[link_name = "labs"]
    safe fn long_abs(number: c_long) -> c_long;
    #[vt_runtime::native(blocking)]
    safe fn usleep(micros: u32) -> c_int;
    fn qsort(
        base: *mut c_void,
        count: usize,
        width: usize,
        compare: unsafe extern "C" fn(*const c_void, *const c_void) -> c_int,
    );
    fn snprintf(buffer: *mut c_char, size: usize, format: *const c_char, ...) -> c_int;
}

#[vt_runtime::native(label = "twelve millis")]
fn doze() -> Result<u32, std::num::TryFromIntError> {
    let slept = u32::try_from(usleep(12_000))?;
    if slept == 0 {
        return Ok(12);
    }
    Ok(0)
}

unsafe extern "C" fn by_number(left: *const c_void, right: *const c_void) -> c_int {
    assert!(
        !thread::is_virtual() || pinned::is_pinned(),
        "an up-call runs below a foreign frame"
    );
    // SAFETY: qsort hands out pointers to numbers of the array.
    let number = |place: *const c_void| unsafe { *place.cast::<i32>() };
    number(left).cmp(&number(right)) as c_int
}

fn sorted(mut numbers: [i32; 3]) -> [i32; 3] {
    // SAFETY: the array has three numbers of that width.
    unsafe { qsort(numbers.as_mut_ptr().cast(), 3, size_of::<i32>(), by_number) };
    numbers
}

#[vt_runtime::test]
fn wrappers_do_what_the_functions_do() {
    // SAFETY: the text ends in a null byte.
    assert_eq!(unsafe { strlen(c"four".as_ptr()) }, 4);
    assert_eq!(abs(-3) + long_abs(-4) as c_int, 7);
    assert_eq!(sorted([3, 1, 2]), [1, 2, 3]);
    // SAFETY: nothing is written into a buffer of no bytes.
    let printed = unsafe { snprintf(std::ptr::null_mut(), 0, c"%d".as_ptr(), 123 as c_int) };
    assert_eq!(printed, 3);
    assert!(!pinned::is_pinned(), "every pin was given back");
}

#[test]
fn wrappers_work_on_plain_threads() {
    assert_eq!(sorted([3, 1, 2]), [1, 2, 3]);
    assert_eq!(doze(), Ok(12));
}

#[vt_runtime::test(should_pin(at_most = 1, longer_than = "20ms"))]
fn a_call_that_blocks_is_one_pin() {
    assert_eq!(usleep(30_000), 0);
}

#[vt_runtime::test(should_pin)]
#[should_panic(expected = "no wait kept its carrier")]
fn a_quick_call_reads_no_clocks() {
    abs(-1);
}

#[test]
fn an_event_names_the_symbol_and_the_callers_line() {
    let failure = |body: fn()| {
        let test = vt_runtime::__private::Test::new("native")
            .should_not_pin()
            .longer_than_ns(5_000_000);
        let failed = std::panic::catch_unwind(|| test.run(body)).expect_err("it pins");
        *failed.downcast::<String>().expect("a formatted message")
    };
    let (line, text) = (line!(), failure(|| assert_eq!(usleep(10_000), 0)));
    assert!(text.contains("inside the foreign call `usleep`"), "{text}");
    assert!(
        text.contains(&format!("blocked at  {}:{line}:", file!())),
        "{text}"
    );
    let (line, text) = (line!(), failure(|| assert_eq!(doze(), Ok(12))));
    assert!(
        text.contains("inside the foreign call `twelve millis`"),
        "{text}"
    );
    assert!(
        text.contains(&format!("pinned at   {}:{line}:", file!())),
        "{text}"
    );
}

#[vt_runtime::test]
fn a_panic_through_a_wrapper_gives_its_pin_back() {
    #[vt_runtime::native]
    fn fails() {
        panic!("inside");
    }
    std::panic::catch_unwind(fails).expect_err("it panics");
    assert!(!pinned::is_pinned());
    assert_eq!(
        Runtime::current().map(|runtime| runtime.metrics().live),
        Some(1)
    );
}
