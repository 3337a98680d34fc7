//! A trait's signatures and default bodies, and an implementation for a swapped type.
#![deny(warnings)]

use std::sync::Mutex;

#[vt_runtime::park_safe]
trait Store {
    fn cell(&self) -> &Mutex<u8>;
    fn fresh() -> Mutex<u8> {
        Mutex::new(3)
    }
}

#[vt_runtime::park_safe]
impl Store for Mutex<u8> {
    fn cell(&self) -> &Mutex<u8> {
        self
    }
}

#[vt_runtime::park_safe]
fn fresh() -> u8 {
    let fresh = Mutex::<u8>::fresh();
    *fresh.cell().lock().unwrap()
}

fn main() {
    assert_eq!(fresh(), 3);
}
