//! Waiting for a message while a monitor is held.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::{Monitor, mpsc};

pub(crate) fn run(runtime: &Runtime) {
    let (sender, receiver) = mpsc::channel::<u32>();
    let taker = runtime.spawn(move || {
        let monitor = Monitor::new(0);
        let _guard = monitor.enter();
        receiver.recv_timeout(Duration::from_millis(5)).is_err() //~ guard-across-park pin
    });
    assert!(taker.join().expect("no panic"));
    drop(sender);
}
