//! The guard is given back on one path only, and the other one is taken.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread;

pub(crate) fn run(runtime: &Runtime) {
    for early in [true, false] {
        let sleeper = runtime.spawn(move || {
            let monitor = Monitor::new(0);
            let guard = monitor.enter();
            if early {
                drop(guard);
            }
            thread::sleep(Duration::from_millis(5)); //~ guard-across-park pin
        });
        sleeper.join().expect("no panic");
    }
}
