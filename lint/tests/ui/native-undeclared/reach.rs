//! Foreign calls in what virtual threads reach.
// edition: 2024

use std::ffi::c_int;
use vt_runtime::{native, thread};

unsafe extern "C" {
    fn decode(id: c_int) -> c_int;
}

#[vt_runtime::native(computing)]
unsafe extern "C" {
    fn scale(id: c_int) -> c_int;
}

pub fn start() {
    thread::spawn(|| {
        unsafe { decode(1) }; //~ native-undeclared
        unsafe { scale(1) };
        native::call("decode", || unsafe { decode(2) });
    });
}
