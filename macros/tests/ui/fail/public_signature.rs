//! A public signature would change its types for other crates.

use std::sync::{Mutex, MutexGuard};

pub struct Owner;

#[vt_runtime::park_safe]
impl Owner {
    pub fn make(&self) -> Mutex<u8> {
        Mutex::new(1)
    }

    pub fn hold<'a>(&self, cell: &'a Mutex<u8>) -> MutexGuard<'a, u8> {
        cell.lock().unwrap()
    }

    pub fn inside(&self) -> u8 {
        *Mutex::new(1).lock().unwrap()
    }
}

fn main() {
    let made = Owner.make();
    assert_eq!(*Owner.hold(&made), Owner.inside());
}
