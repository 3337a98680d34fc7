//! A method that the park-aware lock does not have is named.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

#[vt_runtime::park_safe]
static CELL: Mutex<u8> = Mutex::new(1);

#[vt_runtime::park_safe]
fn shared() -> (Arc<Mutex<u8>>, RwLock<u8>) {
    (Arc::new(Mutex::new(1)), RwLock::new(2))
}

fn main() {
    let _pointer = CELL.data_ptr();
    let (arc, rw_lock) = shared();
    let _guard = arc.lock_arc();
    let _upgradable = rw_lock.upgradable_read();
    // SAFETY: nobody holds it, were there such a method.
    unsafe { arc.force_unlock() };
    // SAFETY: as above.
    let _raw = unsafe { arc.raw() };
}
