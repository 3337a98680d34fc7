//! A sleep while a monitor is held.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread;

pub(crate) fn run(runtime: &Runtime) {
    let sleeper = runtime.spawn(|| {
        let monitor = Monitor::new(0);
        let _guard = monitor.enter();
        thread::sleep(Duration::from_millis(5)); //~ guard-across-park pin
    });
    sleeper.join().expect("no panic");
}
