//! An extern block: safe and unsafe functions, a renamed one, statics, variadics, odd parameters.
#![deny(warnings)]

use std::ffi::{c_char, c_int};

#[vt_runtime::native(blocking)]
unsafe extern "C" {
    /// Counts bytes.
    pub fn strlen(text: *const c_char) -> usize;
    #[vt_runtime::native(quick)]
    pub safe fn abs(abs: c_int) -> c_int;
    #[link_name = "labs"]
    #[must_use]
    safe fn long_abs(_: i64) -> i64;
    #[native(computing)]
    safe fn toupper(letter: c_int) -> c_int;
    #[cfg(any())]
    fn missing();
    fn snprintf(buffer: *mut c_char, size: usize, format: *const c_char, ...) -> c_int;
    static environ: *const *const c_char;
}

fn main() {
    // SAFETY: the text ends in a null byte.
    let length = unsafe { strlen(c"four".as_ptr()) };
    // SAFETY: nothing is written into a buffer of no bytes.
    let printed = unsafe { snprintf(std::ptr::null_mut(), 0, c"%d".as_ptr(), 7 as c_int) };
    // SAFETY: the environment is not changed.
    assert!(unsafe { !environ.is_null() });
    assert_eq!(length as c_int + printed, abs(-4) + long_abs(-1) as c_int);
    assert_eq!(toupper(97), 65);
}
