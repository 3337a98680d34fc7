//! `std::iter::Once` is not `std::sync::Once`.
#![deny(warnings)]

use std::sync::Mutex;

#[vt_runtime::park_safe]
struct Both {
    once: std::iter::Once<u8>,
    cell: Mutex<u8>,
}

#[vt_runtime::park_safe]
fn both() -> Both {
    Both { once: std::iter::once(1), cell: Mutex::new(1) }
}

fn main() {
    let mut both = both();
    assert_eq!(both.once.next(), Some(*both.cell.lock().unwrap()));
}
