//! The runtime reached through another crate.
#![deny(warnings)]

mod facade {
    pub(crate) mod threads {
        pub(crate) use vt_runtime::*;
    }
}

#[vt_runtime::park_safe(crate = crate::facade::threads)]
static CELL: std::sync::Mutex<u8> = std::sync::Mutex::new(1);

#[vt_runtime::native(crate = "crate::facade::threads")]
fn declared() -> u8 {
    2
}

#[vt_runtime::main(crate = facade::threads)]
fn main() {
    assert_eq!(*CELL.lock().unwrap() + declared(), 3);
}
