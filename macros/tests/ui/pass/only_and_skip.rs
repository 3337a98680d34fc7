//! `only` and `skip` leave locks as they are.
#![deny(warnings)]

use std::sync::{Mutex, RwLock};

#[vt_runtime::park_safe(only(RwLock))]
struct Chosen {
    raw: Mutex<u8>,
    swapped: RwLock<u8>,
}

#[vt_runtime::park_safe(skip(raw, kept))]
fn chosen() -> Chosen {
    let kept: Mutex<u8> = Mutex::new(1);
    Chosen { raw: Mutex::new(*kept.lock().unwrap()), swapped: RwLock::new(2) }
}

/// An item that must keep working with std's types says so with one word for the whole lock.
#[vt_runtime::park_safe(skip(Mutex))]
fn both(raw: &Mutex<u8>) -> RwLock<u8> {
    RwLock::new(*raw.lock().unwrap())
}

fn main() {
    let chosen = chosen();
    let _raw: std::sync::MutexGuard<'_, u8> = chosen.raw.lock().unwrap();
    let _swapped: vt_runtime::sync::RwLockReadGuard<'_, u8> = chosen.swapped.read().unwrap();
    let _ = both(&Mutex::new(1));
}
