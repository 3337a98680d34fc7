//! What an interrupt does to each kind of wait, given while it waits and given before.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use super::Stage;
use crate::sync::{
    Condition, Condvar, CountDownLatch, LockError, Monitor, Mutex, ReentrantLock, Semaphore,
    WaitError,
};
use crate::thread::{self, ThreadState};

/// What a row sees: did the wait end by the interrupt, and is the flag set after it?
type Row = (bool, bool);

/// Runs `wait` in a virtual thread that is interrupted while it waits, and in one that was before. `release`
/// ends it if the interrupt does not.
fn row(
    stage: &Stage,
    wait: impl Fn() -> bool + Send + Sync + 'static,
    release: impl Fn(),
) -> [Row; 2] {
    let wait = Arc::new(wait);
    [true, false].map(|while_it_waits| {
        let wait = Arc::clone(&wait);
        let target = stage.runtime.spawn(move || {
            if !while_it_waits {
                thread::current().interrupt();
            }
            let interrupted = wait();
            (interrupted, thread::current().is_interrupted())
        });
        if while_it_waits {
            stage.until(target.thread(), ThreadState::Waiting);
            target.thread().interrupt();
        }
        super::until(|| {
            release();
            target.is_finished()
        });
        target.join().expect("no panic")
    })
}

const ENDED: [Row; 2] = [(true, false); 2];
const ENDED_FLAG_KEPT: [Row; 2] = [(true, true); 2];
const WENT_ON: [Row; 2] = [(false, true); 2];

#[test]
fn locks() {
    for carriers in [1, 2] {
        Stage::on_both(carriers, |stage| {
            let lock = Arc::new(ReentrantLock::new(()));
            let guard = lock.lock();
            let other = Arc::clone(&lock);
            let interrupted =
                move || matches!(other.lock_interruptibly(), Err(LockError::Interrupted));
            assert_eq!(row(stage, interrupted, || {}), ENDED);
            let other = Arc::clone(&lock);
            let timed = move || other.try_lock_for(Duration::from_secs(30)).is_none();
            assert_eq!(row(stage, timed, || {}), ENDED_FLAG_KEPT);
            drop(guard);

            // A plain lock waits on; the flag is there when it returns.
            for while_it_waits in [true, false] {
                let guard = lock.lock();
                let other = Arc::clone(&lock);
                let target = stage.runtime.spawn(move || {
                    if !while_it_waits {
                        thread::current().interrupt();
                    }
                    drop(other.lock());
                    thread::current().is_interrupted()
                });
                stage.until(target.thread(), ThreadState::Waiting);
                target.thread().interrupt();
                drop(guard);
                assert!(target.join().expect("no panic"));
            }
        });
    }
}

#[test]
fn a_time_out_never_sets_the_flag() {
    Stage::on_both(1, |stage| {
        let lock = Arc::new(ReentrantLock::new(()));
        let _guard = lock.lock();
        let other = Arc::clone(&lock);
        let target = stage.runtime.spawn(move || {
            let taken = other.try_lock_for(Duration::from_millis(5)).is_some();
            (taken, thread::current().is_interrupted())
        });
        assert_eq!(target.join().expect("no panic"), (false, false));
    });
}

#[test]
fn conditions_and_monitors_hold_their_lock_again() {
    for carriers in [1, 2] {
        Stage::on_both(carriers, |stage| {
            let shared = Arc::new((ReentrantLock::new(()), Condition::new()));
            let other = Arc::clone(&shared);
            let on_condition = move || {
                let mut guard = other.0.lock();
                let ended = other.1.wait(&mut guard);
                assert!(other.0.is_held());
                ended == Err(WaitError::Interrupted)
            };
            assert_eq!(row(stage, on_condition, || {}), ENDED);

            let monitor = Arc::new(Monitor::new(()));
            let other = Arc::clone(&monitor);
            let on_monitor = move || {
                let _outer = other.enter();
                let mut guard = other.enter();
                let ended = other.wait(&mut guard);
                assert_eq!(other.hold_count(), 2);
                ended == Err(WaitError::Interrupted)
            };
            assert_eq!(row(stage, on_monitor, || {}), ENDED);
        });
    }
}

#[test]
fn std_shapes_wait_on_and_keep_the_flag() {
    Stage::on_both(2, |stage| {
        let pair = Arc::new((Mutex::new(Cell::new(false)), Condvar::new()));
        let other = Arc::clone(&pair);
        let on_condvar = move || {
            let guard = other.0.lock().expect("not poisoned");
            drop(other.1.wait_while(guard, |set| !set.get()));
            false
        };
        let notify = || {
            pair.0.lock().expect("not poisoned").set(true);
            pair.1.notify_all();
        };
        assert_eq!(row(stage, on_condvar, notify), WENT_ON);
    });
}

#[test]
fn permits_and_latches() {
    Stage::on_both(2, |stage| {
        let semaphore = Arc::new(Semaphore::new(0));
        let other = Arc::clone(&semaphore);
        let acquire = move || other.acquire_interruptibly().is_err();
        assert_eq!(row(stage, acquire, || {}), ENDED);
        let other = Arc::clone(&semaphore);
        let timed = move || other.acquire_timeout(Duration::from_secs(30)).is_none();
        assert_eq!(row(stage, timed, || {}), ENDED_FLAG_KEPT);
        let latch = Arc::new(CountDownLatch::new(1));
        let other = Arc::clone(&latch);
        assert_eq!(
            row(stage, move || other.wait_interruptibly().is_err(), || {}),
            ENDED
        );
        semaphore.add_permits(1);
        assert!(semaphore.try_acquire().is_some());
    });
}
