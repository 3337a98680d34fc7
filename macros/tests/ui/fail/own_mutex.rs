//! An own type called `Mutex` is never replaced silently.

struct Mutex<T>(T);

#[vt_runtime::park_safe]
struct Cell {
    inner: Mutex<u8>,
}

fn main() {}
