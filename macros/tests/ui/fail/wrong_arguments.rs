//! All that is wrong with the arguments, each at its own place, and the item still there.

use std::sync::Mutex;

#[vt_runtime::park_safe(colour, check(no), public = true, public, crate = 3)]
struct Cell {
    inner: Mutex<u8>,
}

fn main() {
    let _ = Cell { inner: vt_runtime::sync::Mutex::new(1) };
}
