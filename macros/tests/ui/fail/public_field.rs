//! A public field would change its type for other crates.

use std::sync::Mutex;

#[vt_runtime::park_safe]
pub struct Open {
    pub cell: Mutex<u8>,
    inner: Mutex<u8>,
}

#[vt_runtime::park_safe]
fn open() -> Open {
    Open { cell: Mutex::new(1), inner: Mutex::new(2) }
}

fn main() {
    let open = open();
    assert_eq!(*open.cell.lock().unwrap() + *open.inner.lock().unwrap(), 3);
}
