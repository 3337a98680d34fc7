//! The monitor is swapped by the attribute.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread;

#[vt_runtime::park_safe(monitor = "reentrant")]
fn nap() {
    let monitor = Monitor::new(0);
    let _guard = monitor.enter();
    thread::sleep(Duration::from_millis(5));
}

pub(crate) fn run(runtime: &Runtime) {
    runtime.spawn(nap).join().expect("no panic");
}
