//! The attribute on a method, a constant and a function of an `impl` and of a trait.
#![deny(warnings)]

use std::sync::Mutex;

struct Owner(u8);

impl Owner {
    #[vt_runtime::park_safe]
    const EMPTY: fn(u8) -> Mutex<u8> = Mutex::new;

    #[vt_runtime::park_safe]
    fn cell(&self) -> Mutex<u8> {
        Mutex::new(self.0)
    }
}

trait Cells {
    #[vt_runtime::park_safe]
    fn first(&self) -> Mutex<u8>;
}

impl Cells for Owner {
    #[vt_runtime::park_safe]
    fn first(&self) -> Mutex<u8> {
        Self::EMPTY(self.0)
    }
}

fn main() {
    let owner = Owner(2);
    assert_eq!(*owner.cell().lock().unwrap(), *owner.first().lock().unwrap());
}
