//! The guard is given back before the wait.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread;

pub(crate) fn run(runtime: &Runtime) {
    let sleeper = runtime.spawn(|| {
        let monitor = Monitor::new(0);
        let guard = monitor.enter();
        drop(guard);
        thread::sleep(Duration::from_millis(5));
    });
    sleeper.join().expect("no panic");
}
