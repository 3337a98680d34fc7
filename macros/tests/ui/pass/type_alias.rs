//! A type alias swapped once, used from code that is not annotated.
#![deny(warnings)]

use std::sync::{Arc, Mutex};

#[vt_runtime::park_safe]
type Shared<T> = Arc<Mutex<T>>;

#[vt_runtime::park_safe]
type Cell<T> = Mutex<T>;

fn main() {
    let shared: Shared<u8> = Shared::new(Cell::new(1));
    assert_eq!(*shared.lock().unwrap(), 1);
}
