//! The guard is a temporary of the scrutinee and lives through the arms.

use std::cell::Cell;
use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread;

pub(crate) fn run(runtime: &Runtime) {
    let sleeper = runtime.spawn(|| {
        let monitor = Monitor::new(Cell::new(1));
        match monitor.enter().get() {
            1 => thread::sleep(Duration::from_millis(5)), //~ guard-across-park pin
            other => assert_eq!(other, 0),
        }
    });
    sleeper.join().expect("no panic");
}
