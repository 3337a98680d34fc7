//! The wait under the guard is never reached.
//!
//! Only the lint: it does not know the value of a condition.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread;

pub(crate) fn run(runtime: &Runtime) {
    let never = runtime.spawn(|| {
        let monitor = Monitor::new(0);
        let guard = monitor.enter();
        if std::hint::black_box(false) {
            thread::sleep(Duration::from_millis(5)); //~ guard-across-park
        }
        drop(guard);
    });
    never.join().expect("no panic");
}
