//! An own type called `Mutex` beside std's, told apart by its path.
#![deny(warnings)]

mod own {
    #[derive(Debug)]
    pub(crate) struct Mutex(pub(crate) u8);
}

#[vt_runtime::park_safe(skip(own::Mutex))]
struct Both {
    own: own::Mutex,
    std: std::sync::Mutex<u8>,
}

#[vt_runtime::park_safe]
fn both() -> Both {
    Both { own: own::Mutex(2), std: std::sync::Mutex::new(1) }
}

fn main() {
    let both = both();
    assert_eq!(both.own.0, 1 + *both.std.lock().unwrap());
}
