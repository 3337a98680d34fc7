//! A monitor becomes reentrant only on request.
#![deny(warnings)]

use vt_runtime::sync::{Monitor, MonitorGuard, ReentrantMonitorGuard};

#[vt_runtime::park_safe(monitor = "reentrant")]
struct Cell {
    inner: Monitor<u8>,
}

#[vt_runtime::park_safe(monitor = "reentrant")]
impl Cell {
    fn new() -> Self {
        Cell { inner: Monitor::new(3) }
    }

    fn enter(&self) -> MonitorGuard<'_, u8> {
        self.inner.enter()
    }
}

fn main() {
    let cell = Cell::new();
    let guard: ReentrantMonitorGuard<'_, u8> = cell.enter();
    assert_eq!(*guard, 3);
}
