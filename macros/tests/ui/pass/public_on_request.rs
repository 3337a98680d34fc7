//! A public API changes its types when asked to.
#![deny(warnings)]

#[vt_runtime::park_safe(public)]
pub mod api {
    use std::sync::{Mutex, MutexGuard};

    pub struct Open {
        pub cell: Mutex<u8>,
    }

    pub static SHARED: Mutex<u8> = Mutex::new(1);

    pub fn hold(open: &Open) -> MutexGuard<'_, u8> {
        open.cell.lock().unwrap()
    }
}

fn main() {
    let open = api::Open { cell: vt_runtime::sync::Mutex::new(1) };
    assert_eq!(*api::hold(&open), *api::SHARED.lock().unwrap());
}
