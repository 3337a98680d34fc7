//! What a collected iterator is made of, and the arms of a `match` on `try_lock`.
// edition: 2021
use std::sync::{Mutex, TryLockError};
use std::thread;

pub fn joins(lock: &Mutex<u32>) {
    let _guard = lock.lock().unwrap();
    let handles: Vec<_> = (0..3).map(|_| thread::spawn(|| ())).collect();
    for handle in handles {
        handle.join().unwrap(); //~ blocking-in-guard
    }
    let handles = (0..3).map(|_| thread::spawn(|| ())).collect::<Vec<_>>();
    for handle in handles {
        handle.join().unwrap(); //~ blocking-in-guard
    }
}

pub fn tries(lock: &Mutex<u32>) {
    let guard = match lock.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            thread::sleep(std::time::Duration::from_millis(1));
            return;
        }
    };
    thread::sleep(std::time::Duration::from_millis(u64::from(*guard))); //~ blocking-in-guard
}
