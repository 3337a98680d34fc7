//! A contended monitor blocks the carrier of the one who enters.
//!
//! Only the runtime: whether a lock is contended shows only when it runs.

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;

pub(crate) fn run(runtime: &Runtime) {
    let monitor = Monitor::new(0);
    let held = monitor.enter();
    let wanted = &monitor;
    std::thread::scope(|s| {
        let entering = s.spawn(move || {
            runtime.run(|| {
                let guard = wanted.enter(); //~ pin
                drop(guard);
            });
        });
        while !runtime.threads().iter().any(|info| info.waits_for.is_some()) {
            std::thread::yield_now();
        }
        drop(held);
        entering.join().expect("no panic");
    });
}
