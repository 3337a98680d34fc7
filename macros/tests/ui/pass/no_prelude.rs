//! A crate without the prelude.
#![no_implicit_prelude]
#![deny(warnings)]

#[::vt_runtime::park_safe]
static CELL: ::std::sync::Mutex<u8> = ::std::sync::Mutex::new(1);

#[::vt_runtime::native]
unsafe extern "C" {
    safe fn abs(number: i32) -> i32;
}

#[::vt_runtime::main(carriers = 2)]
fn main() {
    let held = ::std::result::Result::unwrap(CELL.lock());
    ::std::assert_eq!(*held as i32, abs(-1));
}
