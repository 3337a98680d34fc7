//! Waiting for a permit while a monitor is held.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::{Monitor, Semaphore};

pub(crate) fn run(runtime: &Runtime) {
    let taker = runtime.spawn(|| {
        let permits = Semaphore::new(0);
        let monitor = Monitor::new(0);
        let _guard = monitor.enter();
        permits.acquire_timeout(Duration::from_millis(5)).is_none() //~ guard-across-park pin
    });
    assert!(taker.join().expect("no panic"));
}
