//! Guards and their results in signatures, fields and associated types.
#![deny(warnings)]

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

#[vt_runtime::park_safe]
struct Held<'a> {
    guard: MutexGuard<'a, u8>,
}

trait Store {
    type Guard<'a>
    where
        Self: 'a;
    fn hold(&self) -> Self::Guard<'_>;
}

#[vt_runtime::park_safe]
#[derive(Default)]
struct Cell {
    inner: Mutex<u8>,
}

#[vt_runtime::park_safe]
impl Store for Cell {
    type Guard<'a> = MutexGuard<'a, u8>;
    fn hold(&self) -> MutexGuard<'_, u8> {
        self.raw().unwrap_or_else(PoisonError::into_inner)
    }
}

#[vt_runtime::park_safe]
impl Cell {
    fn raw(&self) -> LockResult<MutexGuard<'_, u8>> {
        self.inner.lock()
    }
}

fn main() {
    let cell = Cell::default();
    let held = Held { guard: cell.hold() };
    assert_eq!(*held.guard, 0);
}
