//! Every lock, wait and cell of std that has a counterpart.
#![deny(warnings)]

use std::sync::*;
use std::time::Duration;

#[vt_runtime::park_safe]
fn all() -> u8 {
    let mutex: Mutex<u8> = Mutex::new(1);
    let condvar: Condvar = Condvar::default();
    let (guard, waited): (MutexGuard<'_, u8>, WaitTimeoutResult) =
        condvar.wait_timeout(mutex.lock().unwrap(), Duration::ZERO).unwrap();
    assert!(waited.timed_out());
    let lock: RwLock<u8> = RwLock::new(2);
    let read: RwLockReadGuard<'_, u8> = lock.read().unwrap();
    let other: RwLock<u8> = RwLock::default();
    let write: RwLockWriteGuard<'_, u8> = other.write().unwrap();
    let barrier: Barrier = Barrier::new(1);
    let _: BarrierWaitResult = barrier.wait();
    let once: Once = Once::new();
    let mut ran = 0;
    once.call_once(|| ran += 1);
    let cell: OnceLock<u8> = OnceLock::new();
    let lazy: LazyLock<u8> = LazyLock::new(|| 4);
    *guard + *read + *write + ran + cell.get_or_init(|| 3) + *lazy
}

fn main() {
    assert_eq!(all(), 11);
}
