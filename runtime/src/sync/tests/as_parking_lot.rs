//! What the locks in parking_lot's shape have beyond std's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Stage, until};
use crate::sync::parking_lot::{
    Condvar, MappedRwLockReadGuard, MappedRwLockWriteGuard, Mutex, RwLock, RwLockReadGuard,
    RwLockWriteGuard,
};
use crate::sync::{ReentrantMonitor, Semaphore};
use crate::thread::{self, ThreadState, VirtualThread};

#[test]
fn guards_are_narrowed_to_parts_that_are_there() {
    let lock = RwLock::new(vec![vec![1], vec![2, 3]]);
    let all = RwLockReadGuard::try_map(lock.read(), |rows| rows.get(2)).expect_err("two rows");
    let row = RwLockReadGuard::try_map(all, |rows| rows.get(1)).expect("a row");
    let row = MappedRwLockReadGuard::try_map(row, |row| row.get(2)).expect_err("two numbers");
    let last = MappedRwLockReadGuard::try_map(row, |row| row.last()).expect("a number");
    assert_eq!(*last, 3);
    assert!(lock.is_locked());
    drop(last);
    assert!(!lock.is_locked());

    let all = RwLockWriteGuard::try_map(lock.write(), |rows| rows.get_mut(2));
    let all = all.expect_err("two rows");
    let row = RwLockWriteGuard::try_map(all, |rows| rows.get_mut(0)).expect("a row");
    let row = MappedRwLockWriteGuard::try_map(row, |row| row.get_mut(1)).expect_err("one number");
    let mut last = MappedRwLockWriteGuard::try_map(row, |row| row.last_mut()).expect("a number");
    *last = 7;
    assert!(lock.is_locked_exclusive());
    drop(last);
    assert_eq!(lock.into_inner(), [vec![7], vec![2, 3]]);
}

/// Waits, inside the runtime, until that thread waits.
fn waits(runtime: &crate::Runtime, thread: &VirtualThread) {
    until(|| {
        let threads = runtime.threads();
        let mut threads = threads.iter();
        threads.any(|info| info.id == thread.id() && info.state == ThreadState::Waiting)
    });
}

#[test]
fn a_bump_lets_those_who_wait_go_first() {
    Stage::on_both(1, |stage| {
        let runtime = stage.runtime.clone();
        let holder = stage.runtime.spawn(move || {
            let lock = Arc::new(RwLock::new(0));
            let add = |number| {
                let lock = Arc::clone(&lock);
                let adds = thread::spawn(move || *lock.write() += number);
                waits(&runtime, adds.thread());
                adds
            };
            let mut writer = lock.write();
            RwLockWriteGuard::bump(&mut writer);
            assert_eq!(*writer, 0, "nobody waits");
            let adds = add(1);
            RwLockWriteGuard::bump(&mut writer);
            assert_eq!(*writer, 1);
            adds.join().expect("no panic");

            let mut reader = RwLockWriteGuard::downgrade(writer);
            let adds = add(10);
            RwLockReadGuard::bump(&mut reader);
            assert_eq!(*reader, 11);
            adds.join().expect("no panic");
            drop(reader);
            assert!(!lock.is_locked());
        });
        holder.join().expect("no panic");
    });
}

#[test]
fn a_condition_is_waited_for_until_a_deadline() {
    Stage::on_both(1, |stage| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let timed_out = Arc::new(Semaphore::new(0));
        let (other, tells) = (Arc::clone(&pair), Arc::clone(&timed_out));
        let waiter = stage.runtime.spawn(move || {
            let (mutex, condvar) = &*other;
            let mut set = mutex.lock();
            let soon = Instant::now() + Duration::from_millis(1);
            let held = condvar.wait_while_until(&mut set, |set| !*set, soon);
            assert!(held.timed_out());
            tells.add_permits(1);
            let late = Instant::now() + Duration::from_secs(600);
            let held = condvar.wait_while_until(&mut set, |set| !*set, late);
            assert!(*set && !held.timed_out());
            let past = Instant::now();
            assert!(
                !condvar
                    .wait_while_until(&mut set, |set| !*set, past)
                    .timed_out()
            );
        });
        timed_out.acquire().forget();
        until(|| {
            *pair.0.lock() = true;
            pair.1.notify_one();
            waiter.is_finished()
        });
        waiter.join().expect("no panic");
    });
}

#[test]
fn a_reentrant_monitor_counts_the_levels_of_its_holder() {
    let monitor = ReentrantMonitor::new(());
    assert_eq!(monitor.hold_count(), 0);
    let outer = monitor.enter();
    let inner = monitor.enter();
    assert_eq!(monitor.hold_count(), 2);
    drop(inner);
    assert_eq!(monitor.hold_count(), 1);
    std::thread::scope(|s| {
        let other = s.spawn(|| monitor.hold_count());
        assert_eq!(other.join().expect("no panic"), 0);
    });
    drop(outer);
    assert_eq!(monitor.hold_count(), 0);
}
