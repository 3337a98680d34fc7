//! The guard is a temporary that ends with its statement.

use std::cell::Cell;
use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread;

pub(crate) fn run(runtime: &Runtime) {
    let sleeper = runtime.spawn(|| {
        let monitor = Monitor::new(Cell::new(7));
        let seven = monitor.enter().get();
        thread::sleep(Duration::from_millis(seven));
    });
    sleeper.join().expect("no panic");
}
