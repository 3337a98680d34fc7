//! Waiting for another thread while a monitor is held.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread::{self, Builder};

pub(crate) fn run(runtime: &Runtime) {
    let outer = runtime.spawn(|| {
        // On a carrier of its own: on this one it could never end, and the runtime would name the deadlock.
        let elsewhere = 1 - thread::current_carrier().expect("a virtual thread");
        let child = Builder::new().carrier(elsewhere).spawn(|| thread::sleep(Duration::from_millis(5)));
        let child = child.expect("spawned");
        let monitor = Monitor::new(0);
        let _guard = monitor.enter();
        child.join().expect("no panic"); //~ guard-across-park pin
    });
    outer.join().expect("no panic");
}
