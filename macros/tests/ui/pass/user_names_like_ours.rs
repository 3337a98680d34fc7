//! Modules and types of the user that are called like std, the runtime and the locks.
#![deny(warnings)]

mod std {}

mod vt_runtime {}

mod core {}

use ::std::sync::Mutex;

#[::vt_runtime::park_safe]
static CELL: Mutex<u8> = Mutex::new(1);

#[::vt_runtime::park_safe]
mod own {
    pub(crate) struct Swap;
    pub(crate) enum Kind {
        Mutex,
        Condvar(::std::sync::Condvar),
    }
    pub(crate) fn kinds() -> [Kind; 2] {
        [Kind::Mutex, Kind::Condvar(::std::sync::Condvar::new())]
    }
}

#[::vt_runtime::native]
fn declared() -> u8 {
    2
}

#[::vt_runtime::main]
fn main() {
    let _ = own::Swap;
    for kind in own::kinds() {
        match kind {
            own::Kind::Mutex => {}
            own::Kind::Condvar(condvar) => condvar.notify_all(),
        }
    }
    assert_eq!(*CELL.lock().unwrap() + declared(), 3);
}
