//! Blocking work goes to the offload pool.

use vt_runtime::{Runtime, blocking};

pub(crate) fn run(runtime: &Runtime) {
    let reader = runtime.spawn(|| blocking(|| std::fs::read_to_string("/proc/self/stat").is_ok()));
    assert!(reader.join().expect("no panic"));
}
