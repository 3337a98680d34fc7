//! What is `pub(crate)` or narrower is nobody else's API.
#![deny(warnings)]

#[vt_runtime::park_safe]
mod narrow {
    use std::sync::Mutex;

    pub(crate) struct Open {
        pub cell: Mutex<u8>,
    }

    pub(super) fn open() -> Mutex<Open> {
        Mutex::new(Open { cell: Mutex::new(1) })
    }

    pub(in crate::narrow) static COUNT: Mutex<u8> = Mutex::new(1);

    pub(crate) fn count() -> u8 {
        *COUNT.lock().unwrap()
    }
}

fn main() {
    assert_eq!(*narrow::open().lock().unwrap().cell.lock().unwrap(), narrow::count());
}
