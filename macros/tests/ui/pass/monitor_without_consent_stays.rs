//! Without consent a monitor beside other locks stays what it is.
#![deny(warnings)]

use std::sync::Mutex;

use vt_runtime::sync::{Monitor, MonitorGuard};

#[vt_runtime::park_safe]
#[derive(Default)]
struct Cell {
    inner: Monitor<u8>,
    other: Mutex<u8>,
}

fn main() {
    let cell = Cell::default();
    let guard: MonitorGuard<'_, u8> = cell.inner.enter();
    assert_eq!(*guard, *cell.other.lock().unwrap());
}
