//! Semaphore, latch and barrier.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{Stage, all, os_thread};
use crate::sync::{Barrier, CountDownLatch, Semaphore};
use crate::thread::{self, ThreadState};

#[test]
fn a_semaphore_limits_and_loses_no_permit() {
    Stage::on_both(2, |stage| {
        let semaphore = Arc::new(Semaphore::bounded(5));
        let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let work = || {
            let (semaphore, inside, most) = (
                Arc::clone(&semaphore),
                Arc::clone(&inside),
                Arc::clone(&most),
            );
            move || {
                for n in 0..20 {
                    let permit = if n % 3 == 0 {
                        Some(semaphore.acquire_many(2))
                    } else {
                        semaphore.acquire_timeout(Duration::from_micros(500))
                    };
                    if permit.is_some() {
                        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                }
            }
        };
        let os: Vec<_> = (0..2).map(|_| os_thread(work())).collect();
        all((0..100)
            .map(|_| stage.runtime.spawn(work()))
            .collect::<Vec<_>>());
        os.into_iter().for_each(|os| os.join().expect("no panic"));
        assert!(most.load(Ordering::SeqCst) <= 5);
        assert_eq!(semaphore.available_permits(), 5);
        assert_eq!(semaphore.waiting(), 0);
    });
}

#[test]
fn a_big_request_is_not_overtaken_and_lets_others_pass_when_it_gives_up() {
    Stage::on_both(2, |stage| {
        let semaphore = Arc::new(Semaphore::new(1));
        let other = Arc::clone(&semaphore);
        let big = stage.runtime.spawn(move || other.acquire_many(2).forget());
        stage.until(big.thread(), ThreadState::Waiting);
        let other = Arc::clone(&semaphore);
        let small = stage.runtime.spawn(move || other.acquire().forget());
        stage.until(small.thread(), ThreadState::Waiting);
        assert!(!small.is_finished());
        semaphore.add_permits(1);
        big.join().expect("no panic");
        semaphore.add_permits(1);
        small.join().expect("no panic");
        assert_eq!(semaphore.available_permits(), 0);
    });
}

#[test]
#[should_panic(expected = "at most 2 permits would have 3")]
fn more_permits_than_a_bounded_semaphore_has() {
    Semaphore::bounded(2).add_permits(1);
}

#[test]
#[should_panic(expected = "at most 2 permits never has 3")]
fn asking_a_bounded_semaphore_for_more_than_it_has() {
    drop(Semaphore::bounded(2).acquire_many(3));
}

#[test]
fn a_latch_opens_for_all() {
    Stage::on_both(2, |stage| {
        let latch = Arc::new(CountDownLatch::new(3));
        let waiters: Vec<_> = (0..10)
            .map(|_| {
                let latch = Arc::clone(&latch);
                stage.runtime.spawn(move || latch.wait())
            })
            .collect();
        let other = Arc::clone(&latch);
        let os = os_thread(move || other.wait_timeout(Duration::from_secs(30)));
        for waiter in &waiters {
            stage.until(waiter.thread(), ThreadState::Waiting);
        }
        assert!(!latch.wait_timeout(Duration::from_millis(1)));
        (0..3).for_each(|_| latch.count_down());
        all(waiters);
        assert!(os.join().expect("no panic"));
        latch.count_down();
        assert_eq!(latch.count(), 0);
    });
}

#[test]
fn a_barrier_has_one_leader_each_round() {
    Stage::on_both(2, |stage| {
        let barrier = Arc::new(Barrier::new(10));
        let led = all((0..10)
            .map(|_| {
                let barrier = Arc::clone(&barrier);
                stage
                    .runtime
                    .spawn(move || (0..50).filter(|_| barrier.wait().is_leader()).count())
            })
            .collect::<Vec<_>>());
        assert_eq!(led.iter().sum::<usize>(), 50);
    });
}
