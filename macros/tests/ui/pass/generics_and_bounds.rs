//! Generic parameters, unsized contents and where-clauses over swapped types.
#![deny(warnings)]

use std::fmt::Debug;
use std::sync::Mutex;

#[vt_runtime::park_safe]
struct Cell<T: ?Sized>
where
    Mutex<T>: Debug,
{
    inner: Mutex<T>,
}

#[vt_runtime::park_safe]
impl<T: Debug> Cell<T> {
    fn new(value: T) -> Self {
        Cell { inner: Mutex::new(value) }
    }
}

#[vt_runtime::park_safe]
fn total<const N: usize>(cells: &[Mutex<u32>; N]) -> u32 {
    cells.iter().map(|cell| *cell.lock().unwrap()).sum()
}

#[vt_runtime::park_safe]
fn cells() -> [Mutex<u32>; 2] {
    [1, 2].map(Mutex::new)
}

fn main() {
    assert_eq!(*Cell::new(5).inner.lock().unwrap() + total(&cells()), 8);
}
