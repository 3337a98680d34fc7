//! Foreign calls under guards.
// edition: 2024

use std::ffi::c_int;
use std::sync::Mutex;

unsafe extern "C" {
    fn device_reset(id: c_int) -> c_int;
}

pub fn held(device: &Mutex<c_int>) -> c_int {
    let id = device.lock().unwrap();
    unsafe { device_reset(*id) } //~ ffi-in-guard
}

pub fn ended(device: &Mutex<c_int>) -> c_int {
    let id = *device.lock().unwrap();
    unsafe { device_reset(id) }
}
