//! A park-aware lock may be held over a wait.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::ReentrantLock;
use vt_runtime::thread;

pub(crate) fn run(runtime: &Runtime) {
    let sleeper = runtime.spawn(|| {
        let lock = ReentrantLock::new(0);
        let _guard = lock.lock();
        thread::sleep(Duration::from_millis(5));
    });
    sleeper.join().expect("no panic");
}
