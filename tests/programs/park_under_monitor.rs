//! A park while a monitor is held.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread;

pub(crate) fn run(runtime: &Runtime) {
    let parked = runtime.spawn(|| {
        let monitor = Monitor::new(0);
        let guard = monitor.enter();
        thread::park_timeout(Duration::from_millis(5)); //~ guard-across-park pin
        drop(guard);
    });
    parked.join().expect("no panic");
}
