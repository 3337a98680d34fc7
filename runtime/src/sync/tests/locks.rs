//! Exclusion, re-entry, conditions, time-outs of the park-aware locks.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Stage, T, all, os_thread};
use crate::event::{DeadlockKind, Event, Operation};
use crate::sync::{Condition, Condvar, Mutex, ReentrantLock, RwLock};
use crate::thread::{self, ThreadState};

#[test]
fn a_lock_held_over_sleeps_does_not_pin() {
    Stage::on_both(2, |stage| {
        let start = Instant::now();
        let own = (0..200).map(|_| {
            stage.runtime.spawn(|| {
                let lock = ReentrantLock::new(());
                let _guard = lock.lock();
                thread::sleep(T);
            })
        });
        all(own.collect::<Vec<_>>());
        assert!(start.elapsed() >= T);
        assert!(start.elapsed() < T * 10, "{:?}", start.elapsed());

        let start = Instant::now();
        let shared = Arc::new(ReentrantLock::new(Cell::new(0)));
        let one = (0..50).map(|_| {
            let shared = Arc::clone(&shared);
            stage.runtime.spawn(move || {
                let count = shared.lock();
                let before = count.get();
                thread::sleep(T / 50);
                count.set(before + 1);
            })
        });
        all(one.collect::<Vec<_>>());
        assert!(start.elapsed() >= T);
        assert_eq!(shared.lock().get(), 50);
        assert_eq!(stage.pins(), []);
    });
}

#[test]
fn the_owner_enters_again_and_others_wait_for_the_last_level() {
    Stage::on_both(2, |stage| {
        let lock = Arc::new(ReentrantLock::named("nested", Cell::new(0)));
        let outer = lock.lock();
        let inner = lock.lock();
        outer.set(1);
        assert_eq!(inner.get(), 1);
        assert_eq!(lock.hold_count(), 2);
        drop(outer);
        let other = Arc::clone(&lock);
        let tries = stage.runtime.spawn(move || {
            assert!(other.try_lock().is_none());
            assert!(other.try_lock_for(Duration::from_millis(1)).is_none());
        });
        tries.join().expect("no panic");
        let other = Arc::clone(&lock);
        let waits = stage.runtime.spawn(move || other.lock().get());
        stage.until(waits.thread(), ThreadState::Waiting);
        inner.set(2);
        drop(inner);
        assert_eq!(waits.join().expect("no panic"), 2);
        assert!(!lock.is_locked());
    });
}

#[test]
fn a_condition_restores_all_levels() {
    Stage::on_both(1, |stage| {
        let shared = Arc::new((ReentrantLock::new(Cell::new(false)), Condition::new()));
        let other = Arc::clone(&shared);
        let waiter = stage.runtime.spawn(move || {
            let (lock, condition) = &*other;
            let outer = lock.lock();
            let mut inner = lock.lock();
            while !inner.get() {
                condition.wait(&mut inner).expect("not interrupted");
            }
            assert_eq!(lock.hold_count(), 2);
            drop(inner);
            assert_eq!(lock.hold_count(), 1);
            drop(outer);
            assert!(!lock.is_held());
        });
        stage.until(waiter.thread(), ThreadState::Waiting);
        shared.0.lock().set(true);
        shared.1.notify_one();
        waiter.join().expect("no panic");
        assert_eq!(stage.pins(), []);
    });
}

#[test]
fn a_condition_used_with_two_locks_names_both() {
    Stage::on_both(1, |stage| {
        let shared = Arc::new((
            ReentrantLock::new(()),
            ReentrantLock::new(()),
            Condition::new(),
        ));
        let other = Arc::clone(&shared);
        let waiter = stage.runtime.spawn(move || {
            other.2.wait(&mut other.0.lock()).expect("not interrupted");
        });
        stage.until(waiter.thread(), ThreadState::Waiting);
        let misuse = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = shared.2.wait(&mut shared.1.lock());
        }));
        let payload = misuse.expect_err("it is refused");
        let text = payload.downcast_ref::<String>().expect("a text");
        assert_eq!(text.matches("lock at 0x").count(), 2, "{text}");
        assert!(!shared.1.is_locked());
        shared.2.notify_one();
        waiter.join().expect("no panic");
    });
}

#[test]
fn a_mutex_relocked_by_its_owner_is_a_deadlock_at_once() {
    Stage::on_both(1, |stage| {
        let handle = stage.runtime.spawn(|| {
            let mutex = Mutex::new(0);
            let _guard = mutex.lock().expect("not poisoned");
            drop(mutex.lock());
        });
        let payload = handle.join().expect_err("it is refused");
        let text = payload.downcast_ref::<String>().expect("a text");
        assert!(text.starts_with("deadlock: #"), "{text}");
        assert!(text.contains("use a ReentrantLock"), "{text}");
        stage.runtime.flush_events();
        let events = stage.seen.0.lock().clone();
        let deadlock = events.iter().find_map(|event| match event {
            Event::PinnedDeadlock(deadlock) => Some(deadlock),
            _ => None,
        });
        let deadlock = deadlock.expect("it is reported");
        assert_eq!(deadlock.kind, DeadlockKind::SelfWait);
        assert!(text.contains(&*deadlock.cycle), "{text}");
        let (lock, owner) = (deadlock.lock.as_deref(), deadlock.owner.as_deref());
        assert!(lock.is_some_and(|lock| text.contains(lock)), "{lock:?}");
        assert_eq!(owner.map(|owner| text.matches(owner).count()), Some(2));
        let rw_lock = RwLock::new(0);
        let _writer = rw_lock.write().expect("not poisoned");
        let again = std::panic::AssertUnwindSafe(|| drop(rw_lock.read()));
        assert!(std::panic::catch_unwind(again).is_err());
    });
}

#[test]
fn a_panic_poisons_a_mutex_and_a_cancel_does_not() {
    Stage::on_both(1, |stage| {
        let mutex = Arc::new(Mutex::new(1));
        let other = Arc::clone(&mutex);
        let failing = stage.runtime.spawn(move || {
            let _guard = other.lock();
            panic!("on purpose");
        });
        assert!(failing.join().is_err());
        assert!(mutex.is_poisoned());
        assert_eq!(*mutex.lock().expect_err("poisoned").into_inner(), 1);
        mutex.clear_poison();

        let other = Arc::clone(&mutex);
        let cancelled = stage.runtime.spawn(move || {
            let _guard = other.lock();
            thread::park();
        });
        stage.until(cancelled.thread(), ThreadState::Waiting);
        stage.runtime.shutdown(Duration::from_millis(10));
        assert!(cancelled.join().is_err());
        assert_eq!(mutex.lock().map(|value| *value).ok(), Some(1));
    });
}

#[test]
fn a_cancelled_condition_wait_has_the_lock_when_it_unwinds() {
    struct Reads<'a>(&'a ReentrantLock<Cell<u32>>);
    impl Drop for Reads<'_> {
        fn drop(&mut self) {
            assert!(self.0.is_held());
            self.0.lock().set(9);
        }
    }
    Stage::on_both(2, |stage| {
        let shared = Arc::new((ReentrantLock::new(Cell::new(0)), Condition::new()));
        let other = Arc::clone(&shared);
        let waiter = stage.runtime.spawn(move || {
            let mut guard = other.0.lock();
            let _reads = Reads(&other.0);
            let _ = other.1.wait(&mut guard);
        });
        stage.until(waiter.thread(), ThreadState::Waiting);
        let report = stage.runtime.shutdown(Duration::from_millis(10));
        assert_eq!(report.cancelled.len(), 1, "{report:?}");
        assert!(waiter.join().is_err());
        assert_eq!(shared.0.lock().get(), 9);
    });
}

#[test]
fn a_cancelled_condition_wait_has_the_lock_also_when_it_must_wait_for_it() {
    struct Reads<'a>(&'a ReentrantLock<Cell<u32>>);
    impl Drop for Reads<'_> {
        fn drop(&mut self) {
            assert!(self.0.is_held());
            self.0.lock().set(9);
        }
    }
    Stage::on_both(2, |stage| {
        let shared = Arc::new((ReentrantLock::new(Cell::new(0)), Condition::new()));
        let other = Arc::clone(&shared);
        let waiter = stage.runtime.spawn(move || {
            let mut guard = other.0.lock();
            let _reads = Reads(&other.0);
            let _ = other.1.wait(&mut guard);
        });
        stage.until(waiter.thread(), ThreadState::Waiting);
        let guard = shared.0.lock();
        stage.runtime.shutdown(Duration::from_millis(10));
        assert_eq!(guard.get(), 0);
        drop(guard);
        assert!(waiter.join().is_err());
        assert_eq!(shared.0.lock().get(), 9);
    });
}

#[test]
fn a_cancelled_lock_wait_leaves_the_line() {
    Stage::on_both(2, |stage| {
        let lock = Arc::new(ReentrantLock::new(()));
        let guard = lock.lock();
        let handles: Vec<_> = (0..5)
            .map(|_| {
                let lock = Arc::clone(&lock);
                stage.runtime.spawn(move || drop(lock.lock()))
            })
            .collect();
        for handle in &handles {
            stage.until(handle.thread(), ThreadState::Waiting);
        }
        stage.runtime.shutdown(Duration::from_millis(10));
        assert!(handles.into_iter().all(|handle| handle.join().is_err()));
        drop(guard);
        assert!(lock.try_lock().is_some());
    });
}

#[test]
fn condvars_wake_across_kinds_of_threads() {
    Stage::on_both(2, |stage| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let on_os = {
            let pair = Arc::clone(&pair);
            os_thread(move || {
                let guard = pair.0.lock().expect("not poisoned");
                *pair.1.wait_while(guard, |n| *n < 1).expect("not poisoned")
            })
        };
        let on_virtual = {
            let pair = Arc::clone(&pair);
            stage.runtime.spawn(move || {
                let guard = pair.0.lock().expect("not poisoned");
                *pair.1.wait_while(guard, |n| *n < 1).expect("not poisoned")
            })
        };
        stage.until(on_virtual.thread(), ThreadState::Waiting);
        *pair.0.lock().expect("not poisoned") = 7;
        pair.1.notify_all();
        assert_eq!(on_virtual.join().expect("no panic"), 7);
        assert_eq!(on_os.join().expect("no panic"), 7);

        let guard = pair.0.lock().expect("not poisoned");
        let (_guard, ended) = pair
            .1
            .wait_timeout(guard, Duration::from_millis(1))
            .expect("not poisoned");
        assert!(ended.timed_out());
    });
}

#[test]
fn a_waiting_writer_goes_before_new_readers() {
    Stage::on_both(2, |stage| {
        let lock = Arc::new(RwLock::new(0));
        let reader = lock.read().expect("not poisoned");
        let other = Arc::clone(&lock);
        let writer = stage
            .runtime
            .spawn(move || *other.write().expect("not poisoned") = 1);
        stage.until(writer.thread(), ThreadState::Waiting);
        let other = Arc::clone(&lock);
        let late = stage
            .runtime
            .spawn(move || *other.read().expect("not poisoned"));
        stage.until(late.thread(), ThreadState::Waiting);
        assert_eq!(*lock.try_read().expect("nobody writes"), 0);
        drop(reader);
        assert_eq!(late.join().expect("no panic"), 1);
        writer.join().expect("no panic");
    });
}

#[test]
fn readers_behind_a_writer_that_gives_up_go_on() {
    use crate::sync::raw::attempt::{Attempt, GaveUp};
    use crate::sync::raw::shared::{Access, Shared};
    Stage::on_both(2, |stage| {
        let lock = Arc::new(Shared::new());
        assert!(lock.acquire_at_once(Access::Read));
        let other = Arc::clone(&lock);
        let writer = stage.runtime.spawn(move || {
            let deadline = Some(Instant::now() + T);
            let mut attempt = Attempt::new(Operation::Lock).until(deadline);
            other.acquire(Access::Write, &mut attempt)
        });
        stage.until(writer.thread(), ThreadState::Waiting);
        let other = Arc::clone(&lock);
        let reader = stage
            .runtime
            .spawn(move || other.acquire(Access::Read, &mut Attempt::new(Operation::Lock)));
        stage.until(reader.thread(), ThreadState::Waiting);
        assert_eq!(writer.join().expect("no panic"), Err(GaveUp::Timeout));
        assert_eq!(reader.join().expect("no panic"), Ok(()));
    });
}

#[test]
fn more_levels_than_can_be_counted_are_refused() {
    use crate::sync::raw::monitor::RawMonitor;
    use crate::sync::raw::reentrant::Reentrant;
    fn text(refused: std::thread::Result<()>) -> String {
        let payload = refused.expect_err("it is refused");
        let owned = payload.downcast_ref::<String>().cloned();
        owned.unwrap_or_else(|| (*payload.downcast_ref::<&str>().expect("a text")).to_owned())
    }
    let lock = Reentrant::new();
    let level = lock.enter_at_once();
    lock.set_depth(u32::MAX);
    let again = std::panic::AssertUnwindSafe(|| drop(lock.enter_at_once()));
    let refused = text(std::panic::catch_unwind(again));
    assert!(
        refused.contains("reentrant lock 4294967295 times"),
        "{refused}"
    );
    lock.set_depth(1);
    drop(level);
    assert_eq!(lock.owner(), 0);

    let monitor = RawMonitor::new();
    let at = std::panic::Location::caller();
    let subject = crate::event::Subject {
        kind: "Monitor",
        name: None,
        id: monitor.id(),
    };
    let level = monitor.try_enter(at, subject);
    monitor.set_depth(u32::MAX);
    let again = std::panic::AssertUnwindSafe(|| drop(monitor.try_enter(at, subject)));
    let refused = text(std::panic::catch_unwind(again));
    assert!(
        refused.contains("reentrant lock 4294967295 times"),
        "{refused}"
    );
    monitor.set_depth(1);
    drop(level);
    assert_eq!(monitor.holder(), 0);
}
