//! Code outside of the attribute that names std's type sees the difference.

use std::sync::Mutex;

#[vt_runtime::park_safe]
static CELL: Mutex<u8> = Mutex::new(1);

fn main() {
    let _cell: &Mutex<u8> = &CELL;
}
