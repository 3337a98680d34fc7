//! Waiting for a place in a pool or an executor: what the metrics say of it, and what an interrupt does to it.
//!
//! Order comes from the metrics, never from sleeping.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{LONG, on_both};
use crate::sync::Semaphore;
use crate::task::{Executor, Pool, PoolError, TaskError, TaskScope};
use crate::thread;

fn one_thing(wait: Option<Duration>) -> Arc<Pool<(), ()>> {
    let builder = Pool::builder(|| Ok(())).max_size(1);
    let builder = match wait {
        Some(wait) => builder.wait(wait),
        None => builder,
    };
    Arc::new(builder.build())
}

/// Looks until it is so, but not for ever.
fn until(is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < LONG * 6, "it has not come to that");
        thread::yield_now();
        std::thread::yield_now();
    }
}

/// Lets the clock of the metrics go on.
fn some_time_passes() {
    let since = Instant::now();
    until(|| since.elapsed() > Duration::from_millis(1));
}

#[test]
fn an_interrupt_does_not_end_the_wait_for_a_pooled_thing() {
    on_both(2, |runtime| {
        for wait in [None, Some(LONG * 60)] {
            for while_it_waits in [true, false] {
                let pool = one_thing(wait);
                let lent = pool.get().expect("made");
                let asks = Arc::clone(&pool);
                let target = runtime.spawn(move || {
                    if !while_it_waits {
                        thread::current().interrupt();
                    }
                    let got = asks.get().map(drop);
                    (got, thread::current().is_interrupted())
                });
                until(|| pool.metrics().waiting == 1);
                if while_it_waits {
                    target.thread().interrupt();
                }
                drop(lent);
                assert_eq!(target.join().expect("no panic"), (Ok(()), true));
                assert_eq!(pool.metrics().timed_out, 0);
            }
        }
    });
}

#[test]
fn a_cancelled_subtask_still_gets_its_pooled_thing() {
    on_both(2, |runtime| {
        let pool = one_thing(Some(LONG * 60));
        let got = Arc::new(Semaphore::new(0));
        let result = runtime.run(|| {
            TaskScope::all_or_fail(|s| -> Result<(), TaskError<&str>> {
                let lent = pool.get().expect("made");
                let (asks, tells) = (Arc::clone(&pool), Arc::clone(&got));
                s.spawn(move || {
                    let ended: Result<(), PoolError<()>> = asks.get().map(drop);
                    assert_eq!(ended, Ok(()));
                    tells.add_permits(1);
                    Ok(())
                });
                until(|| pool.metrics().waiting == 1);
                s.cancel("enough");
                drop(lent);
                Ok(())
            })
        });
        assert!(matches!(result, Err(TaskError::Cancelled(_))));
        assert_eq!(got.available_permits(), 1);
        assert_eq!(pool.metrics().timed_out, 0);
    });
}

#[test]
fn a_pool_tells_who_waits_and_for_how_long() {
    on_both(2, |runtime| {
        let pool = one_thing(None);
        let lent = pool.get().expect("made");
        let users: Vec<_> = (0..3)
            .map(|_| {
                let pool = Arc::clone(&pool);
                runtime.spawn(move || pool.get().map(drop))
            })
            .collect();
        until(|| pool.metrics().waiting == 3);
        assert_eq!(pool.metrics().in_use, 1);
        some_time_passes();
        drop(lent);
        for user in users {
            assert_eq!(user.join().expect("no panic"), Ok(()));
        }
        let metrics = pool.metrics();
        assert_eq!((metrics.in_use, metrics.waiting), (0, 0));
        // Each of the three waited while that time passed.
        assert!(metrics.waited >= Duration::from_millis(3), "{metrics:?}");
    });
}

#[test]
fn an_executor_tells_who_waits_and_for_how_long() {
    on_both(2, |runtime| {
        let executor = Arc::new(Executor::per_task(1).on(runtime));
        let gate = Arc::new(Semaphore::new(0));
        let opens = Arc::clone(&gate);
        let first = executor.spawn(move || gate.acquire().forget());
        let submitters: Vec<_> = (0..2)
            .map(|_| {
                let executor = Arc::clone(&executor);
                runtime.spawn(move || executor.spawn(|| ()).join().expect("no panic"))
            })
            .collect();
        until(|| executor.metrics().waiting == 2);
        let metrics = executor.metrics();
        assert_eq!((metrics.running, metrics.admitted), (1, 1));
        some_time_passes();
        opens.add_permits(1);
        first.join().expect("no panic");
        for submitter in submitters {
            submitter.join().expect("no panic");
        }
        executor.wait_idle();
        let metrics = executor.metrics();
        assert_eq!(
            (metrics.running, metrics.waiting, metrics.admitted),
            (0, 0, 3)
        );
        assert!(
            metrics.longest_queued >= Duration::from_millis(1),
            "{metrics:?}"
        );
        assert!(
            metrics.queued >= metrics.longest_queued + Duration::from_millis(1),
            "{metrics:?}"
        );
    });
}
