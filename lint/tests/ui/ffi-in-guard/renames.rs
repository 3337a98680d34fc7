//! Foreign functions through globs, re-exports and renamed crates.
// edition: 2021
use std::sync::Mutex;
mod sys { pub use libc::*; }
extern crate libc as c;
pub fn a(m: &Mutex<u32>) -> i32 {
    let _g = m.lock();
    unsafe { sys::getpid() } //~ ffi-in-guard
}
pub fn b(m: &Mutex<u32>) -> i32 {
    let g = m.lock();
    let r = unsafe { c::getpid() }; //~ ffi-in-guard
    drop(g);
    r
}
