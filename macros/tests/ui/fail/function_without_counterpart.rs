//! An associated function that the park-aware lock does not have is named.

use std::sync::Once;

#[vt_runtime::park_safe]
fn done() -> Once {
    Once::already_done()
}

fn main() {
    done();
}
