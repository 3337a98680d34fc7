//! What cannot be read as arguments.

use std::sync::Mutex;

#[vt_runtime::park_safe(only Mutex)]
static CELL: Mutex<u8> = vt_runtime::sync::Mutex::new(1);

fn main() {}
