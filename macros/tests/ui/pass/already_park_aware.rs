//! Types that are park-aware already stay, also where the attribute is given twice.
#![deny(warnings)]

use vt_runtime::sync::Mutex;

#[vt_runtime::park_safe]
struct Cell {
    inner: Mutex<u8>,
    other: std::sync::RwLock<u8>,
}

#[vt_runtime::park_safe]
mod outer {
    #[vt_runtime::park_safe]
    pub(crate) static TWICE: std::sync::Mutex<u8> = std::sync::Mutex::new(1);
}

#[vt_runtime::park_safe]
fn cell() -> Cell {
    Cell { inner: Mutex::new(1), other: std::sync::RwLock::new(0) }
}

fn main() {
    let cell = cell();
    assert_eq!(*cell.inner.lock().unwrap(), *outer::TWICE.lock().unwrap() + *cell.other.read().unwrap());
}
