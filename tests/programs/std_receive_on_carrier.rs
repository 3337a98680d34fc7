//! std's channel in a virtual thread blocks its carrier.

use std::sync::mpsc;
use std::time::Duration;

use vt_runtime::Runtime;

pub(crate) fn run(runtime: &Runtime) {
    let (sender, receiver) = mpsc::channel::<u32>();
    let taker = runtime.spawn(move || {
        receiver.recv_timeout(Duration::from_millis(150)).is_err() //~ blocking-on-carrier sampled
    });
    assert!(taker.join().expect("no panic"));
    drop(sender);
}
