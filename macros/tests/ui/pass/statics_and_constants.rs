//! Statics, constants and the constructors in them.
#![deny(warnings)]

use std::sync::{Condvar, Mutex, Once, RwLock};

#[vt_runtime::park_safe]
static COUNT: Mutex<u32> = Mutex::new(2);

#[vt_runtime::park_safe]
static STARTED: Once = Once::new();

#[vt_runtime::park_safe]
pub(crate) static NAMES: RwLock<Vec<String>> = RwLock::new(Vec::new());

#[vt_runtime::park_safe]
const FRESH: fn() -> Condvar = Condvar::new;

fn main() {
    STARTED.call_once(|| *COUNT.lock().unwrap() += 1);
    FRESH().notify_all();
    assert_eq!(*COUNT.lock().unwrap() as usize + NAMES.read().unwrap().len(), 3);
}
