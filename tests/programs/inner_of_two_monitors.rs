//! Two monitors; the inner one is given back before the wait, the outer one is not.

use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread;

pub(crate) fn run(runtime: &Runtime) {
    let sleeper = runtime.spawn(|| {
        let (outer, inner) = (Monitor::new(0), Monitor::new(0));
        let _outer = outer.enter();
        let second = inner.enter(); //~ nested-lock
        drop(second);
        thread::sleep(Duration::from_millis(5)); //~ guard-across-park pin
    });
    sleeper.join().expect("no panic");
}
