//! `check` names every lock that would be swapped, and changes none.

use std::sync::{Condvar, Mutex};

#[vt_runtime::park_safe(check)]
struct Cell {
    inner: Mutex<u8>,
    changed: Condvar,
}

#[vt_runtime::park_safe(check)]
fn main() {
    let cell = Cell { inner: Mutex::new(1), changed: vt() };
    let _guard: std::sync::MutexGuard<'_, u8> = cell.inner.lock().unwrap();
    cell.changed.notify_all();
}

fn vt() -> Condvar {
    Condvar::new()
}
