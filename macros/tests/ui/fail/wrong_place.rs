//! Items that hold no lock.

#[vt_runtime::park_safe]
use std::sync::Mutex;

#[vt_runtime::park_safe]
unsafe extern "C" {
    fn getpid() -> i32;
}

fn main() {
    let _ = Mutex::new(1);
    let _ = unsafe { getpid() };
}
