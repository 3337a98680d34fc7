//! Nothing is held: waits unmount.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::thread;

pub(crate) fn run(runtime: &Runtime) {
    let sleeper = runtime.spawn(|| {
        thread::sleep(Duration::from_millis(5));
        thread::spawn(thread::yield_now).join().expect("no panic");
    });
    sleeper.join().expect("no panic");
}
