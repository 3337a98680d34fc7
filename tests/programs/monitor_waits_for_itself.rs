//! A monitor's own wait gives its pin back.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;

pub(crate) fn run(runtime: &Runtime) {
    let waiter = runtime.spawn(|| {
        let monitor = Monitor::new(0);
        let mut guard = monitor.enter();
        let waited = monitor.wait_timeout(&mut guard, Duration::from_millis(5));
        waited.expect("nobody interrupts").timed_out()
    });
    assert!(waiter.join().expect("no panic"));
}
