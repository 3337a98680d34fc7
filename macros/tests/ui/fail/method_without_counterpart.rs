//! A method that the park-aware lock does not have is named.

use parking_lot::Mutex;

#[vt_runtime::park_safe]
static CELL: Mutex<u8> = Mutex::new(1);

fn main() {
    let _pointer = CELL.data_ptr();
}
