//! `skip` names something of the item.

use std::sync::Mutex;

#[vt_runtime::park_safe(skip(iner))]
struct Cell {
    inner: Mutex<u8>,
}

fn main() {}
