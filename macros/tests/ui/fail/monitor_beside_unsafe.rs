//! A monitor beside foreign or unsafe code stays one.

use vt_runtime::native;
use vt_runtime::sync::Monitor;

mod libc {
    pub fn getpid() -> i32 {
        1
    }
}

#[vt_runtime::park_safe(monitor = "reentrant")]
fn cell(byte: *const u8) -> i32 {
    let cell = Monitor::new(1);
    let byte = i32::from(unsafe { *byte });
    *cell.enter() + libc::getpid() + native::call("getpid", || 1) + byte
}

fn main() {}
