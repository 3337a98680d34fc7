//! Once cells: one initialiser, waiting for it, its panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Stage, all};
use crate::sync::{LazyLock, Once, OnceLock, Semaphore};
use crate::thread::ThreadState;

#[test]
fn one_initialiser_runs_and_may_wait() {
    Stage::on_both(2, |stage| {
        let (cell, runs) = (Arc::new(OnceLock::new()), Arc::new(AtomicUsize::new(0)));
        let gate = Arc::new(Semaphore::new(0));
        let threads: Vec<_> = (0..20)
            .map(|n| {
                let (cell, runs, gate) = (Arc::clone(&cell), Arc::clone(&runs), Arc::clone(&gate));
                stage.runtime.spawn(move || {
                    *cell.get_or_init(|| {
                        runs.fetch_add(1, Ordering::SeqCst);
                        gate.acquire().forget();
                        n
                    })
                })
            })
            .collect();
        for thread in &threads {
            stage.until(thread.thread(), ThreadState::Waiting);
        }
        assert_eq!(cell.get(), None);
        gate.add_permits(1);
        let values = all(threads);
        assert!(values.windows(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(runs.load(Ordering::SeqCst), 1);
        assert_eq!(cell.set(99), Err(99));
        assert_eq!(stage.pins(), []);
    });
}

#[test]
fn a_panic_poisons_a_once_but_leaves_a_once_lock_empty() {
    Stage::on_both(1, |stage| {
        let cell = Arc::new(OnceLock::new());
        let other = Arc::clone(&cell);
        let failing = stage.runtime.spawn(move || {
            other.get_or_init(|| -> u32 { panic!("on purpose") });
        });
        assert!(failing.join().is_err());
        assert_eq!(*cell.get_or_init(|| 3), 3);

        let once = Arc::new(Once::new());
        let other = Arc::clone(&once);
        let failing = stage
            .runtime
            .spawn(move || other.call_once(|| panic!("on purpose")));
        assert!(failing.join().is_err());
        let other = Arc::clone(&once);
        assert!(
            stage
                .runtime
                .spawn(move || other.call_once(|| {}))
                .join()
                .is_err()
        );
        let other = Arc::clone(&once);
        assert!(stage.runtime.spawn(move || other.wait()).join().is_err());
        once.call_once_force(|state| assert!(state.is_poisoned()));
        assert!(once.is_completed());
        once.wait();
    });
}

#[test]
fn a_cell_that_initialises_itself_is_refused() {
    Stage::on_both(1, |stage| {
        let handle = stage.runtime.spawn(|| {
            let once = Once::new();
            once.call_once(|| once.call_once(|| {}));
        });
        let payload = handle.join().expect_err("it is refused");
        let text = payload.downcast_ref::<&str>().expect("a text");
        assert!(text.starts_with("deadlock:"), "{text}");
    });
}

#[test]
fn a_lazy_value_is_made_once_by_whoever_comes_first() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    static VALUE: LazyLock<usize> = LazyLock::new(|| {
        crate::thread::yield_now();
        RUNS.fetch_add(1, Ordering::SeqCst) + 41
    });
    Stage::on_both(2, |stage| {
        let threads: Vec<_> = (0..20).map(|_| stage.runtime.spawn(|| *VALUE)).collect();
        assert!(all(threads).into_iter().all(|value| value == 41));
    });
    let failing = LazyLock::new(|| -> u32 { panic!("on purpose") });
    for _ in 0..2 {
        assert!(std::panic::catch_unwind(|| *failing).is_err());
    }
}
