//! Futures driven by threads, and threads awaited by async code.

use std::cell::Cell;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use vt_runtime::future::{block_on, block_on_with};
use vt_runtime::{pinned, thread};

use super::{on_both, until, until_it_waits};

/// What a future pends on until somebody opens it.
#[derive(Clone, Default)]
struct Gate(Arc<Mutex<(bool, Option<Waker>)>>);

impl Gate {
    fn open(&self) {
        let waker = {
            let mut state = self.0.lock().expect("no panic");
            state.0 = true;
            state.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn opened(&self) {
        poll_fn(|context| {
            let mut state = self.0.lock().expect("no panic");
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

#[test]
fn a_pending_future_unmounts_its_thread() {
    on_both(1, |runtime| {
        let gate = Gate::default();
        let theirs = gate.clone();
        let waits = runtime.spawn(move || block_on(async { theirs.opened().await }));
        until_it_waits(runtime, waits.thread().id());
        runtime.spawn(|| ()).join().expect("the carrier is free");
        // Neither a permit nor an interrupt is what it waits for, and both are still there after it.
        waits.thread().unpark();
        waits.thread().interrupt();
        assert!(!waits.is_finished());
        gate.open();
        let thread = waits.thread().clone();
        waits.join().expect("no panic");
        assert!(thread.is_interrupted());
    });
}

#[test]
fn wakes_before_and_between_polls_are_not_lost() {
    on_both(2, |runtime| {
        for _ in 0..200 {
            let gate = Gate::default();
            let theirs = gate.clone();
            let waits = runtime.spawn(move || {
                let mut yields = 3;
                block_on(async {
                    poll_fn(|context| {
                        context.waker().wake_by_ref();
                        yields -= 1;
                        if yields == 0 {
                            Poll::Ready(())
                        } else {
                            Poll::Pending
                        }
                    })
                    .await;
                    theirs.opened().await;
                });
            });
            gate.open();
            waits.join().expect("no panic");
        }
        assert_eq!(block_on(async { 1 }), 1);
    });
}

#[test]
fn the_guard_is_there_for_each_poll_and_never_over_a_park() {
    thread_local! {
        static INSIDE: Cell<bool> = const { Cell::new(false) };
    }
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            INSIDE.set(false);
        }
    }
    on_both(1, |runtime| {
        let gate = Gate::default();
        let theirs = gate.clone();
        let enter = || {
            assert!(!INSIDE.replace(true));
            Leave
        };
        let waits = runtime.spawn(move || {
            block_on_with(enter, async {
                assert!(INSIDE.get() && pinned::is_pinned());
                theirs.opened().await;
                assert!(INSIDE.get());
            });
            assert!(!pinned::is_pinned());
        });
        until_it_waits(runtime, waits.thread().id());
        let inside = runtime.spawn(|| INSIDE.get()).join();
        assert!(!inside.expect("no panic"));
        gate.open();
        waits.join().expect("no panic");
    });
}

#[test]
fn async_code_awaits_threads() {
    on_both(2, |runtime| {
        let answers: Vec<_> = (0..100).map(|n| runtime.spawn(move || n * n)).collect();
        let sum = block_on(async {
            let mut sum = 0;
            for answer in answers {
                sum += answer.await.expect("no panic");
            }
            sum
        });
        assert_eq!(sum, 328_350);
        let panics = runtime.spawn(|| panic!("on purpose"));
        let payload = block_on(panics).expect_err("it panics");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
        let sleeps = runtime.spawn(thread::park);
        let awaits = runtime.spawn(move || block_on(sleeps).is_err());
        until(|| {
            runtime
                .threads()
                .iter()
                .filter(|t| t.waits_for.is_some())
                .count()
                == 2
        });
        runtime.shutdown(Duration::ZERO);
        // Both were cancelled: the awaiting one while it waited, or after it had its answer.
        assert!(awaits.is_finished());
    });
}

#[test]
fn a_cancelled_thread_wakes_who_awaits_it() {
    on_both(1, |runtime| {
        let parks = runtime.spawn(thread::park);
        until_it_waits(runtime, parks.thread().id());
        let awaits = std::thread::Builder::new()
            .spawn(move || block_on(parks).is_err())
            .expect("an OS thread");
        runtime.shutdown(Duration::ZERO);
        assert!(awaits.join().expect("no panic"));
    });
}
