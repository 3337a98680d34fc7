//! A destructor waits while a panic unwinds.
//!
//! Only the runtime: no guard is held, and which panics unwind shows only when they do.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::thread;

struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(5)); //~ pin
    }
}

pub(crate) fn run(runtime: &Runtime) {
    let failing = runtime.spawn(|| {
        let _late = Late;
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    assert!(failing.join().is_err());
}
