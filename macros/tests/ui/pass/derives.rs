//! Derives above and below the attribute.
#![deny(warnings)]

use std::sync::{Condvar, Mutex};

#[vt_runtime::park_safe]
#[derive(Debug, Default)]
struct Below {
    cell: Mutex<u8>,
    changed: Condvar,
}

#[derive(Debug, Default)]
#[vt_runtime::park_safe]
struct Above<T> {
    cell: Mutex<T>,
}

fn main() {
    println!("{:?} {:?}", Below::default(), Above::<u8>::default());
    let (below, above) = (Below::default(), Above::<u8>::default());
    below.changed.notify_all();
    assert_eq!(*below.cell.lock().unwrap(), *above.cell.lock().unwrap());
}
