//! Payloads of an enum; a variant called like a lock is not one.
#![deny(warnings)]

use std::sync::{Mutex, OnceLock};

#[vt_runtime::park_safe]
enum Slot<T> {
    Mutex,
    Full(Mutex<T>),
    Ready { cell: OnceLock<T> },
}

#[vt_runtime::park_safe]
fn slots() -> [Slot<u8>; 3] {
    [Slot::Mutex, Slot::Full(Mutex::new(1)), Slot::Ready { cell: OnceLock::new() }]
}

fn main() {
    let mut sum = 0;
    for slot in slots() {
        sum += match slot {
            Slot::Mutex => 1,
            Slot::Full(mutex) => *mutex.lock().unwrap(),
            Slot::Ready { cell } => *cell.get_or_init(|| 5),
        };
    }
    assert_eq!(sum, 7);
}
