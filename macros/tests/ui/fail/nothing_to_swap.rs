//! An attribute without effect would look like a repair.

use std::sync::Mutex as Lock;

#[vt_runtime::park_safe]
struct Cell {
    inner: Lock<u8>,
}

fn main() {}
