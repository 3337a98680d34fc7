//! Fields and functions under `cfg`, with documentation and lint levels.
#![deny(warnings)]

use std::sync::Mutex;

/// Two cells, or one.
#[vt_runtime::park_safe]
struct Cells {
    /// Always there.
    #[doc(alias = "main")]
    always: Mutex<u8>,
    #[cfg(any())]
    never: Mutex<Missing>,
}

#[vt_runtime::park_safe]
fn cells() -> Cells {
    Cells {
        always: Mutex::new(1),
        #[cfg(any())]
        never: Mutex::new(Missing),
    }
}

fn main() {
    assert_eq!(*cells().always.lock().unwrap(), 1);
}
