//! The wrapper is a Rust function: foreign code cannot call it.

#[vt_runtime::native]
unsafe extern "C" {
    safe fn abs(number: i32) -> i32;
}

fn main() {
    let _callback: extern "C" fn(i32) -> i32 = abs;
}
