//! A lock imported under another name outside of the item is named with `only`.
#![deny(warnings)]

use std::sync::Mutex as Lock;

#[vt_runtime::park_safe(only(Lock = Mutex))]
struct Cache {
    cell: Lock<u8>,
}

#[vt_runtime::park_safe(only(Lock = Mutex))]
fn cache() -> Cache {
    Cache { cell: Lock::new(4) }
}

fn main() {
    let cache = cache();
    let held: vt_runtime::sync::MutexGuard<'_, u8> = cache.cell.lock().unwrap();
    assert_eq!(*held, 4);
}
