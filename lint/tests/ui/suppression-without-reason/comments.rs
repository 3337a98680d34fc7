//! Suppressions that do not say why.
// edition: 2024

use std::sync::Mutex;

pub fn slow(lock: &Mutex<u32>) {
    let _guard = lock.lock().unwrap();
    std::thread::park(); /* //~ suppression-without-reason */ // vt-lint: allow(blocking-in-guard)
    std::thread::park(); // vt-lint: allow(blocking-in-guard) -- the only thread there is
}
