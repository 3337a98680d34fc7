//! What a continuation does, on both backends.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use super::guard::GuardKind;
use super::*;

mod child;
mod fault;
mod limits;
mod pool;

/// A backend with a kind of guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setup(Stacks, GuardKind);

/// Every setup this kernel can have. Newer ones can also do what older ones did.
fn setups() -> impl Iterator<Item = Setup> {
    let guards = match GuardKind::detect() {
        GuardKind::Marker => &[GuardKind::Marker, GuardKind::Mapping][..],
        GuardKind::Mapping => &[GuardKind::Mapping],
    };
    [Stacks::Dense, Stacks::Generator]
        .into_iter()
        .flat_map(|stacks| guards.iter().map(move |&guards| Setup(stacks, guards)))
}

impl Setup {
    fn pool(self, cap: usize) -> Arc<StackPool> {
        Arc::new(StackPool::with_guards(self.0, Some(cap), self.1))
    }
}

fn start(pool: &Arc<StackPool>, body: impl FnOnce() + 'static) -> Continuation {
    start_on(pool, "test", DEFAULT_STACK_SIZE, body)
}

fn start_on(
    pool: &Arc<StackPool>,
    name: &str,
    stack_size: usize,
    body: impl FnOnce() + 'static,
) -> Continuation {
    let place = pool
        .reserve(stack_size)
        .expect("the pool is far from its cap");
    let label = ThreadLabel {
        id: 7,
        name: Some(name.into()),
    };
    Continuation::new(place, label, body).expect("there is memory for a few stacks")
}

#[test]
fn control_goes_back_and_forth() {
    for setup in setups() {
        let pool = setup.pool(1000);
        let log = Rc::new(RefCell::new(Vec::new()));
        let mut continuation = start(&pool, {
            let log = Rc::clone(&log);
            move || {
                for turn in 0..3 {
                    log.borrow_mut().push(format!("in {turn}"));
                    suspend();
                }
            }
        });
        for turn in 0..3 {
            assert_eq!(continuation.resume(), Step::Suspended, "{setup:?}");
            log.borrow_mut().push(format!("out {turn}"));
        }
        assert_eq!(continuation.resume(), Step::Finished, "{setup:?}");
        assert_eq!(
            *log.borrow(),
            ["in 0", "out 0", "in 1", "out 1", "in 2", "out 2"],
            "{setup:?}"
        );
        drop(continuation);
        assert_eq!((pool.live(), pool.leaked()), (0, 0), "{setup:?}");
    }
}

#[test]
fn many_interleave_and_keep_their_locals() {
    for setup in setups() {
        let pool = setup.pool(1000);
        let sum = Rc::new(Cell::new(0_u64));
        let mut all: Vec<_> = (0..200_u64)
            .map(|number| {
                let sum = Rc::clone(&sum);
                start(&pool, move || {
                    let mut own = 0;
                    for turn in 0..10 {
                        own += number * turn;
                        suspend();
                    }
                    sum.set(sum.get() + own);
                })
            })
            .collect();
        for _ in 0..10 {
            assert!(
                all.iter_mut().all(|one| one.resume() == Step::Suspended),
                "{setup:?}"
            );
        }
        assert!(
            all.iter_mut().all(|one| one.resume() == Step::Finished),
            "{setup:?}"
        );
        assert_eq!(sum.get(), (0..200).sum::<u64>() * 45, "{setup:?}");
    }
}

#[test]
fn a_panic_caught_inside_leaves_the_stack_usable() {
    for setup in setups() {
        let pool = setup.pool(1000);
        let seen = Rc::new(Cell::new(0));
        let mut continuation = start(&pool, {
            let seen = Rc::clone(&seen);
            move || {
                for turn in 0..3 {
                    let payload = catch_unwind(AssertUnwindSafe(|| {
                        suspend();
                        std::panic::resume_unwind(Box::new(turn));
                    }))
                    .expect_err("it panics");
                    seen.set(
                        seen.get() + payload.downcast_ref::<i32>().expect("our own payload") + 1,
                    );
                }
            }
        });
        while continuation.resume() == Step::Suspended {}
        assert_eq!(seen.get(), 6, "{setup:?}");
    }
}

#[inline(never)]
fn use_up(bytes: usize) -> usize {
    let block = std::hint::black_box([1_u8; 1024]);
    if bytes <= block.len() {
        1
    } else {
        use_up(bytes - block.len()) + usize::from(block[7])
    }
}

#[test]
fn deep_recursion_fits_and_is_measured() {
    for setup in setups() {
        let pool = setup.pool(1000);
        let mut continuation = start_on(&pool, "deep", 1 << 20, || {
            suspend();
            assert!(use_up(700 << 10) > 0);
            suspend();
        });
        assert_eq!(continuation.resume(), Step::Suspended);
        let before = stack_used(&continuation.bounds());
        assert!((1..64 << 10).contains(&before), "{setup:?}: {before}");
        assert_eq!(continuation.resume(), Step::Suspended);
        let after = stack_used(&continuation.bounds());
        assert!((700 << 10..2 << 20).contains(&after), "{setup:?}: {after}");
        assert_eq!(continuation.resume(), Step::Finished);
    }
}

#[test]
fn bounds_are_those_of_the_mounted_stack() {
    for setup in setups() {
        assert_eq!(stack_bounds(), None, "{setup:?}");
        let pool = setup.pool(1000);
        let mut continuation = start(&pool, || {
            let local = 0_u8;
            let bounds = stack_bounds().expect("a continuation is mounted");
            assert!(bounds.contains(&(&raw const local).addr()));
            assert!(bounds.len() >= 64 << 10);
        });
        assert_eq!(continuation.resume(), Step::Finished, "{setup:?}");
        assert_eq!(stack_bounds(), None, "{setup:?}");
    }
}

#[test]
fn a_continuation_may_resume_another() {
    for setup in setups() {
        let pool = setup.pool(1000);
        let inner_pool = Arc::clone(&pool);
        let mut outer = start(&pool, move || {
            let outer_bounds = stack_bounds();
            let mut inner = start(&inner_pool, suspend);
            assert_eq!(inner.resume(), Step::Suspended);
            assert_eq!(stack_bounds(), outer_bounds);
            suspend();
            assert_eq!(inner.resume(), Step::Finished);
        });
        assert_eq!(outer.resume(), Step::Suspended, "{setup:?}");
        assert_eq!(outer.resume(), Step::Finished, "{setup:?}");
    }
}

#[test]
fn thread_locals_are_the_carriers() {
    thread_local!(static COUNT: Cell<u32> = const { Cell::new(0) });
    for setup in setups() {
        COUNT.set(0);
        let pool = setup.pool(1000);
        let mut both = [1, 2].map(|step| {
            start(&pool, move || {
                COUNT.with(|count| {
                    count.set(count.get() + step);
                    suspend();
                    count.set(count.get() + 10 * step);
                });
            })
        });
        for continuation in &mut both {
            assert_eq!(continuation.resume(), Step::Suspended, "{setup:?}");
        }
        assert_eq!(COUNT.get(), 3, "{setup:?}");
        for continuation in &mut both {
            assert_eq!(continuation.resume(), Step::Finished, "{setup:?}");
        }
        assert_eq!(COUNT.get(), 33, "{setup:?}");
    }
}

#[test]
fn a_body_that_never_ran_is_dropped_and_its_stack_used_again() {
    for setup in setups() {
        let pool = setup.pool(1000);
        let token = Rc::new(());
        let held = Rc::clone(&token);
        let continuation = start(&pool, move || drop(held));
        assert_eq!(Rc::strong_count(&token), 2, "{setup:?}");
        drop(continuation);
        assert_eq!(Rc::strong_count(&token), 1, "{setup:?}");
        assert_eq!((pool.live(), pool.leaked()), (0, 0), "{setup:?}");
    }
}

#[test]
fn a_large_body_is_moved_whole() {
    for setup in setups() {
        let pool = setup.pool(1000);
        let sum = Rc::new(Cell::new(0));
        let mut continuation = start(&pool, {
            let (sum, block) = (Rc::clone(&sum), [3_u8; 5000]);
            move || sum.set(block.iter().map(|&byte| u32::from(byte)).sum())
        });
        assert_eq!(continuation.resume(), Step::Finished, "{setup:?}");
        assert_eq!(sum.get(), 15_000, "{setup:?}");
    }
}

#[test]
fn names_of_backends_are_read_and_written() {
    for kind in [Stacks::Dense, Stacks::Generator] {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    let error = "fast".parse::<Stacks>().expect_err("not a backend");
    assert_eq!(
        error.to_string(),
        "unknown stack backend `fast`: use `dense` or `generator`"
    );
}

#[test]
fn continuations_stay_on_their_thread_and_reservations_may_move() {
    trait OnlyIfNotSend<Choice> {
        fn hold() {}
    }
    impl<T: ?Sized> OnlyIfNotSend<()> for T {}
    impl<T: ?Sized + Send> OnlyIfNotSend<u8> for T {}
    // Two candidates, and so no compilation, for a type that is `Send`.
    <Continuation as OnlyIfNotSend<_>>::hold();
    fn send<T: Send>() {}
    send::<Reservation>();
}
