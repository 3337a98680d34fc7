//! Full, partial and absolute paths.
#![deny(warnings)]

use std::sync;

#[vt_runtime::park_safe]
struct Paths {
    full: std::sync::Mutex<u8>,
    partial: sync::RwLock<u8>,
    absolute: ::std::sync::OnceLock<u8>,
}

#[vt_runtime::park_safe]
impl Paths {
    fn new() -> Self {
        Paths { full: std::sync::Mutex::new(1), partial: sync::RwLock::new(2), absolute: ::std::sync::OnceLock::new() }
    }
}

fn main() {
    let paths = Paths::new();
    let absolute = *paths.absolute.get_or_init(|| 3);
    assert_eq!(*paths.full.lock().unwrap() + *paths.partial.write().unwrap() + absolute, 6);
}
