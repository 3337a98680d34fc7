//! Waits in initialisers of thread-locals.
// edition: 2024

use std::cell::Cell;
use std::time::Duration;
use vt_runtime::{pinned, thread};

thread_local! {
    static SLOW: Cell<u32> = {
        thread::sleep(Duration::from_millis(1)); //~ park-in-thread-local-init
        Cell::new(1)
    };
    static CURED: Cell<u32> = {
        pinned::critical("cell", || thread::sleep(Duration::from_millis(1)));
        Cell::new(1)
    };
}

pub fn start() {
    thread::spawn(|| SLOW.get() + CURED.get());
}
