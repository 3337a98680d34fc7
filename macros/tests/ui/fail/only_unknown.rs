//! `only` names locks.

use std::sync::Mutex;

#[vt_runtime::park_safe(only(Mutx))]
struct Cell {
    inner: Mutex<u8>,
}

#[vt_runtime::park_safe(only)]
static CELL: Mutex<u8> = Mutex::new(1);

#[vt_runtime::park_safe(only())]
static OTHER: Mutex<u8> = Mutex::new(1);

fn main() {}
