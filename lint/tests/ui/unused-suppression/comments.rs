//! Suppressions that suppress nothing.
// edition: 2024

use std::sync::Mutex;

pub fn quick(lock: &Mutex<u32>) -> u32 {
    // vt-lint: allow(blocking-in-guard) -- nothing blocks here //~ unused-suppression
    *lock.lock().unwrap()
}
