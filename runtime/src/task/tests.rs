//! Scopes, scoped values, locals, executors and pools through their public API, on both backends.

mod tree;
mod waiting;

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{CancelReason, Executor, Pool, PoolError, TaskError, TaskScope};
use crate::sync::Semaphore;
use crate::thread::{self, SleepOutcome};
use crate::{Runtime, Stacks};

const LONG: Duration = Duration::from_secs(10);

fn on_both(carriers: usize, test: impl Fn(&Runtime) + Sync) {
    for stacks in [Stacks::Dense, Stacks::Generator] {
        let runtime = Runtime::builder().stacks(stacks).carriers(carriers).build();
        test(&runtime.expect("a runtime"));
    }
}

/// Counts the values that were dropped.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn oc_18_the_first_failure_cancels_children_that_wait_and_children_that_have_not_begun() {
    on_both(2, |runtime| {
        for round in 0..500_u32 {
            let dropped = Arc::new(AtomicUsize::new(0));
            let forks = AtomicUsize::new(0);
            let start = Instant::now();
            let result = runtime.run(|| {
                TaskScope::all_or_fail(|s| -> Result<(), TaskError<u32>> {
                    s.spawn(move || -> Result<(), u32> {
                        thread::park_timeout(Duration::from_micros(u64::from(round % 50) * 10));
                        Err(round)
                    });
                    let mut children = Vec::new();
                    while s.cancel_reason().is_none() && children.len() < 100 {
                        let counts = Counts(Arc::clone(&dropped));
                        forks.fetch_add(1, Ordering::SeqCst);
                        children.push(s.spawn(move || {
                            let _counts = counts;
                            match thread::sleep_interruptibly(LONG) {
                                SleepOutcome::Interrupted => Err(u32::MAX),
                                SleepOutcome::Elapsed => Ok(()),
                            }
                        }));
                        thread::yield_now();
                    }
                    for child in children {
                        let ended = child.join::<u32>();
                        assert!(matches!(
                            ended,
                            Err(TaskError::Cancelled(CancelReason::SubtaskFailed))
                        ));
                    }
                    Ok(())
                })
            });
            assert_eq!(result, Err(TaskError::Failed(round)));
            assert!(start.elapsed() < LONG / 10);
            assert_eq!(dropped.load(Ordering::SeqCst), forks.load(Ordering::SeqCst));
        }
    });
}

#[test]
fn a_child_forked_after_the_cancel_never_begins() {
    on_both(1, |runtime| {
        let began = AtomicBool::new(false);
        let result = runtime.run(|| {
            TaskScope::all_or_fail(|s| -> Result<(), TaskError<()>> {
                s.cancel("enough");
                let late = s.spawn(|| {
                    began.store(true, Ordering::SeqCst);
                    Ok(())
                });
                late.join()
            })
        });
        assert_eq!(
            result,
            Err(TaskError::Cancelled(CancelReason::Requested("enough")))
        );
        assert!(!began.load(Ordering::SeqCst));
    });
}

#[test]
fn a_deadline_cancels_and_does_not_outlive_its_scope() {
    on_both(2, |runtime| {
        let start = Instant::now();
        let late = runtime.run(|| {
            TaskScope::all_or_fail(|s| -> Result<(), TaskError<()>> {
                s.timeout(Duration::from_millis(20));
                let sleeps = s.spawn(|| match thread::sleep_interruptibly(LONG) {
                    SleepOutcome::Interrupted => Ok("interrupted"),
                    SleepOutcome::Elapsed => Ok("elapsed"),
                });
                assert_eq!(sleeps.join::<()>()?, "interrupted");
                Ok(())
            })
        });
        assert_eq!(late, Err(TaskError::Cancelled(CancelReason::Deadline)));
        let in_time = runtime.run(|| {
            TaskScope::all_or_fail(|s| {
                s.timeout(LONG);
                s.spawn(|| Ok::<_, ()>(5)).join()
            })
        });
        assert_eq!(in_time, Ok(5));
        assert!(start.elapsed() < LONG / 2);
    });
}

#[test]
fn the_first_success_is_enough() {
    on_both(2, |runtime| {
        let result = runtime.run(|| {
            TaskScope::any_success(|s| {
                s.spawn(|| Err("fails"));
                s.spawn(|| match thread::sleep_interruptibly(LONG) {
                    SleepOutcome::Interrupted => Err("interrupted"),
                    SleepOutcome::Elapsed => Ok(1),
                });
                s.spawn(|| {
                    thread::sleep(Duration::from_millis(5));
                    Ok(2)
                });
            })
        });
        assert_eq!(result, Ok(2));
        let none = runtime.run(|| TaskScope::any_success(|s| s.spawn(|| Err::<(), _>("no"))));
        assert_eq!(none, Err(TaskError::Failed("no")));
        let empty = runtime.run(|| TaskScope::any_success::<(), ()>(|_| {}));
        assert_eq!(empty, Err(TaskError::Empty));
    });
}

#[test]
fn collecting_keeps_the_order_and_may_end_early() {
    on_both(2, |runtime| {
        let all = runtime.run(|| {
            TaskScope::collect(|s| {
                for n in 0..20_u32 {
                    s.spawn(move || if n % 2 == 0 { Ok(n) } else { Err(n) });
                }
            })
        });
        assert!(all.into_iter().zip(0..).all(|(outcome, n)| match outcome {
            Ok(even) => even == n && n % 2 == 0,
            Err(TaskError::Failed(odd)) => odd == n && n % 2 == 1,
            Err(_) => false,
        }));
        let early = runtime.run(|| {
            TaskScope::collect_until(Result::is_ok, |s| {
                s.spawn(|| match thread::sleep_interruptibly(LONG) {
                    SleepOutcome::Interrupted => Err("interrupted"),
                    SleepOutcome::Elapsed => Ok(0),
                });
                s.spawn(|| Ok(1));
            })
        });
        // The sleeper was interrupted, or had not even begun.
        assert!(early[0].is_err());
        assert_eq!(early[1], Ok(1));
    });
}

#[test]
fn an_outer_cancel_reaches_inner_scopes() {
    on_both(2, |runtime| {
        let start = Instant::now();
        let result = runtime.run(|| {
            TaskScope::all_or_fail(|outer| -> Result<(), TaskError<&str>> {
                let inside = Arc::new(Semaphore::new(0));
                let began = Arc::clone(&inside);
                outer.spawn(move || {
                    let inner = TaskScope::all_or_fail(|s| -> Result<(), TaskError<()>> {
                        s.spawn(|| {
                            began.add_permits(1);
                            thread::sleep_interruptibly(LONG);
                            Ok(())
                        });
                        Ok(())
                    });
                    assert_eq!(
                        inner,
                        Err(TaskError::Cancelled(CancelReason::SubtaskFailed))
                    );
                    Ok(())
                });
                inside.acquire().forget();
                outer.spawn(|| Err::<(), _>("outer"));
                Ok(())
            })
        });
        assert_eq!(result, Err(TaskError::Failed("outer")));
        assert!(start.elapsed() < LONG / 2);
    });
}

#[test]
fn panics_come_out_after_all_children_have_ended() {
    on_both(2, |runtime| {
        let ended = Arc::new(AtomicUsize::new(0));
        for owner_panics in [true, false] {
            let ended = Arc::clone(&ended);
            let handle = runtime.spawn(move || {
                let _ = TaskScope::all_or_fail(|s| -> Result<(), TaskError<()>> {
                    let counts = Counts(ended);
                    s.spawn(move || {
                        let _counts = counts;
                        thread::sleep_interruptibly(LONG);
                        Ok(())
                    });
                    thread::yield_now();
                    if owner_panics {
                        std::panic::resume_unwind(Box::new("owner"));
                    }
                    s.spawn(|| -> Result<(), ()> { std::panic::resume_unwind(Box::new("child")) });
                    Ok(())
                });
            });
            let payload = handle.join().expect_err("it panics");
            let text = payload.downcast_ref::<&str>().expect("a text");
            assert_eq!(*text, if owner_panics { "owner" } else { "child" });
        }
        assert_eq!(ended.load(Ordering::SeqCst), 2);
    });
}

super::scoped_value! {
    static USER: String;
    static DEPTH: u32;
}

#[test]
fn scoped_values_are_handed_down_and_end_with_their_call() {
    on_both(1, |runtime| {
        runtime.run(|| {
            assert!(!USER.is_bound());
            USER.with("ada".into(), || {
                DEPTH.with(1, || {
                    let seen = TaskScope::collect(|s| {
                        s.spawn(|| Ok::<_, ()>((USER.get(), DEPTH.get())));
                        s.spawn(|| {
                            DEPTH.with(2, || {
                                thread::yield_now();
                                Ok((USER.get(), DEPTH.get()))
                            })
                        });
                    });
                    assert_eq!(seen[0], Ok((Some("ada".into()), Some(1))));
                    assert_eq!(seen[1], Ok((Some("ada".into()), Some(2))));
                    assert_eq!(DEPTH.get(), Some(1));
                });
                assert_eq!(DEPTH.get(), None);
                let plain = thread::spawn(|| USER.get());
                assert_eq!(plain.join().expect("no panic"), None);
            });
            assert!(USER.get().is_none());
        });
    });
}

super::local! {
    static SEEN: RefCell<Vec<u32>> = RefCell::new(Vec::new());
    static AT_END: RefCell<Option<Counts>> = const { RefCell::new(None) };
}

#[test]
fn locals_belong_to_one_thread_and_are_dropped_at_its_end() {
    on_both(1, |runtime| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..10)
            .map(|n| {
                let counts = Counts(Arc::clone(&dropped));
                runtime.spawn(move || {
                    AT_END.set(Some(counts));
                    for i in 0..10 {
                        SEEN.with_borrow_mut(|seen| seen.push(n * 10 + i));
                        thread::yield_now();
                    }
                    // Held over a wait, as a thread-local's borrow must not be.
                    SEEN.with(|seen| {
                        let seen = seen.borrow();
                        thread::yield_now();
                        seen.iter().copied().eq(n * 10..n * 10 + 10)
                    })
                })
            })
            .collect();
        assert!(
            threads
                .into_iter()
                .all(|thread| thread.join().expect("no panic"))
        );
        assert_eq!(dropped.load(Ordering::SeqCst), 10);
    });
    SEEN.with_borrow_mut(|seen| seen.push(1));
    assert_eq!(SEEN.take(), [1]);
}

#[test]
fn an_executor_admits_before_it_spawns() {
    on_both(2, |runtime| {
        let executor = Executor::per_task(3).on(runtime);
        let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let handles: Vec<_> = (0..30)
            .map(|n| {
                let (inside, most) = (Arc::clone(&inside), Arc::clone(&most));
                executor.spawn(move || {
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(1));
                    inside.fetch_sub(1, Ordering::SeqCst);
                    if n == 7 {
                        std::panic::resume_unwind(Box::new("one fails and gives its place back"));
                    }
                })
            })
            .collect();
        // A thread gives its place back just before it ends.
        assert!(runtime.metrics().live <= 6);
        let failed = handles
            .into_iter()
            .filter_map(|handle| handle.join().err())
            .count();
        executor.wait_idle();
        assert_eq!(failed, 1);
        assert!(most.load(Ordering::SeqCst) <= 3);
        let metrics = executor.metrics();
        assert_eq!(
            (metrics.admitted, metrics.running, metrics.waiting),
            (30, 0, 0)
        );
        assert!(metrics.queued >= metrics.longest_queued);
    });
}

#[test]
fn a_pool_lends_makes_checks_and_times_out() {
    on_both(2, |runtime| {
        let made = Arc::new(AtomicUsize::new(0));
        let makes = Arc::clone(&made);
        let make = move || match makes.fetch_add(1, Ordering::SeqCst) {
            3 => Err("refused"),
            n => Ok(n),
        };
        let builder = Pool::builder(make).max_size(2).check(|n| *n != 0);
        let pool = builder.wait(Duration::from_millis(5)).build();
        runtime.run(|| {
            let (first, second) = (pool.get().expect("made"), pool.get().expect("made"));
            assert_eq!((*first, *second), (0, 1));
            assert_eq!(
                pool.get().expect_err("both are lent"),
                PoolError::Timeout(Duration::from_millis(5))
            );
            drop(first);
            // Number 0 does not pass the check.
            let third = pool.get().expect("made");
            assert_eq!(*third, 2);
            assert_eq!(third.take(), 2);
            assert_eq!(pool.get().expect_err("refused"), PoolError::Make("refused"));
            drop(second);
            assert_eq!(*pool.get().expect("idle"), 1);
        });
        let metrics = pool.metrics();
        assert_eq!((metrics.in_use, metrics.idle, metrics.waiting), (0, 1, 0));
        assert_eq!(
            (metrics.made, metrics.discarded, metrics.timed_out),
            (3, 1, 1)
        );

        let shared = Arc::new(Pool::builder(|| Ok::<_, ()>(())).max_size(5).build());
        let users: Vec<_> = (0..500)
            .map(|_| {
                let pool = Arc::clone(&shared);
                runtime.spawn(move || {
                    let _thing = pool.get().expect("made");
                    thread::yield_now();
                })
            })
            .collect();
        users
            .into_iter()
            .for_each(|user| user.join().expect("no panic"));
        assert!(shared.metrics().made <= 5);
    });
}
