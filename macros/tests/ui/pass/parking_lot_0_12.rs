//! The locks of parking_lot 0.12, with the feature that asks for them.
#![deny(warnings)]

#[vt_runtime::park_safe]
mod cells {
    use parking_lot_0_12::{Condvar, MappedMutexGuard, Mutex, MutexGuard, ReentrantMutex, RwLock, RwLockReadGuard};

    pub(crate) struct Cells {
        pair: Mutex<(u8, u8)>,
        pub(crate) changed: Condvar,
        lock: RwLock<u8>,
        pub(crate) nested: ReentrantMutex<u8>,
    }

    impl Cells {
        pub(crate) const fn new() -> Self {
            Cells {
                pair: Mutex::new((1, 2)),
                changed: Condvar::new(),
                lock: RwLock::new(3),
                nested: ReentrantMutex::new(4),
            }
        }

        pub(crate) fn first(&self) -> MappedMutexGuard<'_, u8> {
            MutexGuard::map(self.pair.lock(), |pair| &mut pair.0)
        }

        pub(crate) fn read(&self) -> RwLockReadGuard<'_, u8> {
            self.lock.read()
        }
    }
}

fn main() {
    static CELLS: cells::Cells = cells::Cells::new();
    CELLS.changed.notify_one();
    assert_eq!(*CELLS.first() + *CELLS.read() + *CELLS.nested.lock(), 8);
}
