//! std's sleep in a virtual thread blocks its carrier; the runtime sees it from outside.

use std::time::Duration;

use vt_runtime::Runtime;

#[expect(clippy::disallowed_methods, reason = "blocking the carrier is the point")]
pub(crate) fn run(runtime: &Runtime) {
    let sleeper = runtime.spawn(|| {
        std::thread::sleep(Duration::from_millis(150)); //~ blocking-on-carrier sampled
    });
    sleeper.join().expect("no panic");
}
