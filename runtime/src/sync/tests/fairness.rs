//! Who gets a lock next: a newcomer that runs, or the one who has waited.
//!
//! All threads share one carrier, so nothing runs between what the holder does unless the holder waits.

use std::sync::Arc;

use parking_lot::Mutex as Leaf;

use super::Stage;
use crate::sync::{ReentrantLock, Semaphore};
use crate::thread::{self, ThreadState};

/// Who got it, in order.
type Order = Arc<Leaf<Vec<&'static str>>>;

/// The holder frees the lock, for which a waiter waits, and asks for it again at once.
fn free_and_ask_again(stage: &Stage, fair: bool) -> Vec<&'static str> {
    let order = Order::default();
    let lock = Arc::new(ReentrantLock::new(()).fair(fair));
    let (seen, runtime) = (Arc::clone(&order), stage.runtime.clone());
    let holder = stage.runtime.spawn(move || {
        let guard = lock.lock();
        let (theirs, notes) = (Arc::clone(&lock), Arc::clone(&seen));
        let waiter = thread::spawn(move || {
            let _guard = theirs.lock();
            notes.lock().push("waiter");
        });
        super::until(|| {
            let state = |info: &crate::thread::ThreadInfo| info.state == ThreadState::Waiting;
            let is_it = |info: &crate::thread::ThreadInfo| info.id == waiter.thread().id();
            runtime
                .threads()
                .iter()
                .any(|info| is_it(info) && state(info))
        });
        drop(guard);
        let guard = lock.lock();
        seen.lock().push("newcomer");
        drop(guard);
        waiter.join().expect("no panic");
    });
    holder.join().expect("no panic");
    let order = order.lock();
    order.clone()
}

#[test]
fn a_fair_lock_goes_to_the_waiter_and_another_to_the_newcomer() {
    Stage::on_both(1, |stage| {
        for _ in 0..100 {
            assert_eq!(free_and_ask_again(stage, true), ["waiter", "newcomer"]);
            assert_eq!(free_and_ask_again(stage, false), ["newcomer", "waiter"]);
        }
    });
}

#[test]
fn a_freed_permit_goes_to_the_waiter() {
    Stage::on_both(1, |stage| {
        let order = Order::default();
        let (seen, notes) = (Arc::clone(&order), Arc::clone(&order));
        let holder = stage.runtime.spawn(move || {
            let semaphore = Arc::new(Semaphore::new(1));
            let permit = semaphore.acquire();
            let theirs = Arc::clone(&semaphore);
            let waiter = thread::spawn(move || {
                let _permit = theirs.acquire();
                notes.lock().push("waiter");
            });
            super::until(|| semaphore.waiting() == 1);
            drop(permit);
            let permit = semaphore.acquire();
            seen.lock().push("newcomer");
            drop(permit);
            waiter.join().expect("no panic");
        });
        holder.join().expect("no panic");
        assert_eq!(*order.lock(), ["waiter", "newcomer"]);
    });
}
