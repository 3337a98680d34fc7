//! A monitor is never swapped unasked.

use vt_runtime::sync::Monitor;

#[vt_runtime::park_safe]
struct Cell {
    inner: Monitor<u8>,
}

fn main() {}
