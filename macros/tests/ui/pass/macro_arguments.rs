//! Arguments of macros that are Rust.
#![deny(warnings)]

use std::sync::{Arc, Mutex};

#[vt_runtime::park_safe]
fn made() -> usize {
    let many: Vec<Mutex<u8>> = vec![Mutex::new(0), Mutex::new(1)];
    let same = vec![Arc::new(Mutex::new(0)); 3];
    assert!(matches!(many[0].lock(), Ok(guard) if *guard == 0), "{:?}", Mutex::new(1));
    let text = format!("{:?} {size}", Mutex::new(3), size = size_of::<Mutex<u8>>());
    many.len() + same.len() + text.len().min(1)
}

fn main() {
    assert_eq!(made(), 6);
}
