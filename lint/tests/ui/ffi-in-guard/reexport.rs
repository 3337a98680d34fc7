//! Foreign functions through the re-export of another crate.
// edition: 2021
use std::sync::Mutex;
use rusqlite::ffi;
pub fn a(m: &Mutex<*mut ffi::sqlite3>) -> i32 {
    let g = m.lock().unwrap();
    unsafe { ffi::sqlite3_close(*g) } //~ ffi-in-guard
}
