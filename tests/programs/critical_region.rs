//! A wait inside a critical region is pinned by request.
//!
//! Only the runtime: the region is the documented cure for scoped thread-locals, so the lint accepts it.

use std::time::Duration;

use vt_runtime::{Runtime, pinned};
use vt_runtime::thread;

pub(crate) fn run(runtime: &Runtime) {
    let sleeper = runtime.spawn(|| {
        pinned::critical("scoped", || {
            thread::sleep(Duration::from_millis(5)); //~ pin
        });
    });
    sleeper.join().expect("no panic");
}
