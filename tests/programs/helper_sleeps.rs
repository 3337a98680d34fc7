//! The wait is two calls away from the monitor.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread;

fn settle() {
    pause();
}

fn pause() {
    thread::sleep(Duration::from_millis(5)); //~ pin
}

pub(crate) fn run(runtime: &Runtime) {
    let sleeper = runtime.spawn(|| {
        let monitor = Monitor::new(0);
        let _guard = monitor.enter();
        settle(); //~ guard-across-park
    });
    sleeper.join().expect("no panic");
}
