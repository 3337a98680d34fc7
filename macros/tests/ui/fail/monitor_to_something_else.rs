//! A monitor becomes reentrant, or stays.

use vt_runtime::sync::Monitor;

#[vt_runtime::park_safe(monitor = "mutex")]
struct Cell {
    inner: Monitor<u8>,
}

#[vt_runtime::park_safe(monitor)]
struct Other {
    inner: Monitor<u8>,
}

fn main() {}
