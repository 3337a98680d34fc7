//! A set that is swapped only in part does not type-check.

use std::sync::{Condvar, Mutex};

#[vt_runtime::park_safe(skip(Condvar))]
fn wait() {
    let mutex = Mutex::new(1);
    let condvar = Condvar::new();
    let _guard = condvar.wait(mutex.lock().unwrap()).unwrap();
}

fn main() {}
