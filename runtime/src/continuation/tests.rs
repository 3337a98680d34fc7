//! What a continuation does, on both backends.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use super::*;

const BOTH: [Stacks; 2] = [Stacks::Dense, Stacks::Generator];

fn label(name: &str) -> ThreadLabel {
    ThreadLabel {
        id: 1,
        name: Some(name.into()),
    }
}

fn pool(kind: Stacks) -> Arc<StackPool> {
    Arc::new(StackPool::new(kind, Some(1000)))
}

fn start(pool: &Arc<StackPool>, body: impl FnOnce() + 'static) -> Continuation {
    let place = pool
        .reserve(DEFAULT_STACK_SIZE)
        .expect("the pool is far from its cap");
    Continuation::new(place, label("test"), body).expect("there is memory for a few stacks")
}

#[test]
fn control_goes_back_and_forth() {
    for kind in BOTH {
        let pool = pool(kind);
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
            assert_eq!(continuation.resume(), Step::Suspended, "{kind}");
            log.borrow_mut().push(format!("out {turn}"));
        }
        assert_eq!(continuation.resume(), Step::Finished, "{kind}");
        assert_eq!(
            *log.borrow(),
            ["in 0", "out 0", "in 1", "out 1", "in 2", "out 2"],
            "{kind}"
        );
        drop(continuation);
        assert_eq!((pool.live(), pool.leaked()), (0, 0), "{kind}");
    }
}

#[test]
fn many_interleave_and_keep_their_locals() {
    for kind in BOTH {
        let pool = pool(kind);
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
                "{kind}"
            );
        }
        assert!(
            all.iter_mut().all(|one| one.resume() == Step::Finished),
            "{kind}"
        );
        assert_eq!(sum.get(), (0..200).sum::<u64>() * 45, "{kind}");
    }
}

#[test]
fn a_panic_caught_inside_leaves_the_stack_usable() {
    for kind in BOTH {
        let pool = pool(kind);
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
        assert_eq!(seen.get(), 6, "{kind}");
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
    for kind in BOTH {
        let pool = pool(kind);
        let place = pool.reserve(1 << 20).expect("the pool is empty");
        let mut continuation = Continuation::new(place, label("deep"), || {
            suspend();
            assert!(use_up(700 << 10) > 0);
            suspend();
        })
        .expect("there is memory for one stack");
        assert_eq!(continuation.resume(), Step::Suspended);
        let before = continuation.stack_used();
        assert!((1..64 << 10).contains(&before), "{kind}: {before}");
        assert_eq!(continuation.resume(), Step::Suspended);
        let after = continuation.stack_used();
        assert!((700 << 10..2 << 20).contains(&after), "{kind}: {after}");
        assert_eq!(continuation.resume(), Step::Finished);
    }
}

#[test]
fn bounds_are_those_of_the_mounted_stack() {
    for kind in BOTH {
        assert_eq!(stack_bounds(), None, "{kind}");
        let pool = pool(kind);
        let mut continuation = start(&pool, || {
            let local = 0_u8;
            let bounds = stack_bounds().expect("a continuation is mounted");
            assert!(bounds.contains(&(&raw const local).addr()));
            assert!(bounds.len() >= 64 << 10);
        });
        assert_eq!(continuation.resume(), Step::Finished, "{kind}");
        assert_eq!(stack_bounds(), None, "{kind}");
    }
}

#[test]
fn a_continuation_may_resume_another() {
    for kind in BOTH {
        let pool = pool(kind);
        let inner_pool = Arc::clone(&pool);
        let mut outer = start(&pool, move || {
            let outer_bounds = stack_bounds();
            let mut inner = start(&inner_pool, suspend);
            assert_eq!(inner.resume(), Step::Suspended);
            assert_eq!(stack_bounds(), outer_bounds);
            suspend();
            assert_eq!(inner.resume(), Step::Finished);
        });
        assert_eq!(outer.resume(), Step::Suspended, "{kind}");
        assert_eq!(outer.resume(), Step::Finished, "{kind}");
    }
}

#[test]
fn thread_locals_are_the_carriers() {
    thread_local!(static COUNT: Cell<u32> = const { Cell::new(0) });
    for kind in BOTH {
        COUNT.set(0);
        let pool = pool(kind);
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
            assert_eq!(continuation.resume(), Step::Suspended, "{kind}");
        }
        assert_eq!(COUNT.get(), 3, "{kind}");
        for continuation in &mut both {
            assert_eq!(continuation.resume(), Step::Finished, "{kind}");
        }
        assert_eq!(COUNT.get(), 33, "{kind}");
    }
}

#[test]
fn a_body_that_never_ran_is_dropped_and_its_stack_used_again() {
    for kind in BOTH {
        let pool = pool(kind);
        let token = Rc::new(());
        let held = Rc::clone(&token);
        let continuation = start(&pool, move || drop(held));
        assert_eq!(Rc::strong_count(&token), 2, "{kind}");
        drop(continuation);
        assert_eq!(Rc::strong_count(&token), 1, "{kind}");
        assert_eq!((pool.live(), pool.leaked()), (0, 0), "{kind}");
    }
}

#[test]
fn a_large_body_is_moved_whole() {
    for kind in BOTH {
        let pool = pool(kind);
        let sum = Rc::new(Cell::new(0));
        let mut continuation = start(&pool, {
            let (sum, block) = (Rc::clone(&sum), [3_u8; 5000]);
            move || sum.set(block.iter().map(|&byte| u32::from(byte)).sum())
        });
        assert_eq!(continuation.resume(), Step::Finished, "{kind}");
        assert_eq!(sum.get(), 15_000, "{kind}");
    }
}

#[test]
fn stacks_are_used_again() {
    for kind in BOTH {
        let pool = pool(kind);
        let seen = Rc::new(RefCell::new(Vec::new()));
        for _ in 0..100 {
            let seen = Rc::clone(&seen);
            let mut continuation = start(&pool, move || {
                seen.borrow_mut()
                    .push(stack_bounds().expect("a continuation is mounted"));
            });
            assert_eq!(continuation.resume(), Step::Finished);
        }
        let mut seen = seen.take();
        seen.dedup();
        assert_eq!(seen.len(), 1, "{kind}: one at a time needs one stack");
    }
}

#[test]
fn at_the_cap_a_place_is_refused_until_one_comes_back() {
    for kind in BOTH {
        let pool = Arc::new(StackPool::new(kind, Some(3)));
        let mut places: Vec<_> = (0..3)
            .map(|_| pool.reserve(16 << 10).expect("below the cap"))
            .collect();
        assert_eq!((pool.kind(), pool.cap(), pool.live()), (kind, 3, 3));
        match pool.reserve(16 << 10) {
            Err(StackError::Limit { live: 3, cap: 3 }) => {}
            other => panic!("{kind}: {:?}", other.err()),
        }
        assert_eq!(pool.live(), 3, "{kind}: a refusal takes no place");
        places.pop();
        let place = pool.reserve(16 << 10).expect("one came back");
        drop((place, places));
        assert_eq!(pool.live(), 0, "{kind}");
    }
}

#[test]
fn a_size_nobody_can_have_is_an_error() {
    for kind in BOTH {
        let pool = pool(kind);
        let refused = pool
            .reserve(usize::MAX / 2)
            .and_then(|place| Continuation::new(place, label("huge"), || ()));
        assert!(matches!(refused, Err(StackError::Refused(_))), "{kind}");
        assert_eq!(pool.live(), 0, "{kind}");
    }
}

#[test]
fn dropping_a_suspended_continuation_leaks_its_stack() {
    for kind in BOTH {
        let pool = pool(kind);
        let token = Rc::new(());
        let held = Rc::clone(&token);
        let address = Rc::new(Cell::new(std::ptr::null::<u64>()));
        let published = Rc::clone(&address);
        let mut continuation = start(&pool, move || {
            let value = 0x5EED_u64;
            published.set(&raw const value);
            suspend();
            drop(held);
        });
        assert_eq!(continuation.resume(), Step::Suspended);
        drop(continuation);
        assert_eq!((pool.live(), pool.leaked()), (1, 1), "{kind}");
        assert_eq!(
            Rc::strong_count(&token),
            2,
            "{kind}: nothing on the stack was dropped"
        );
        let mut next = start(&pool, || assert!(use_up(32 << 10) > 0));
        assert_eq!(next.resume(), Step::Finished);
        drop((next, pool));
        let page = address.get().addr() & !4095;
        let mut resident = 0_u8;
        #[expect(
            unsafe_code,
            reason = "asks the kernel whether the leaked stack is still mapped"
        )]
        // SAFETY: mincore only reports, into a byte per page.
        let answer = unsafe {
            libc::mincore(
                std::ptr::without_provenance_mut(page),
                4096,
                (&raw mut resident).cast(),
            )
        };
        assert_eq!(
            (answer, resident & 1),
            (0, 1),
            "{kind}: the leaked stack is gone"
        );
    }
}

#[test]
fn memory_of_a_burst_is_given_back() {
    let pool = Arc::new(StackPool::new(Stacks::Dense, Some(20_000)));
    let mut all: Vec<_> = (0..12_000).map(|_| start(&pool, suspend)).collect();
    assert!(all.iter_mut().all(|one| one.resume() == Step::Suspended));
    assert!(all.iter_mut().all(|one| one.resume() == Step::Finished));
    let extents: Vec<_> = all.iter().map(|one| one.running.extent()).collect();
    drop(all);
    let resident = || extents.iter().filter(|extent| extent.used() > 0).count();
    assert!(
        resident() < 9000,
        "{} of 12000 stacks are still resident",
        resident()
    );
    pool.give_back_idle();
    pool.give_back_idle();
    assert!(
        resident() < 200,
        "{} of 12000 stacks are still resident",
        resident()
    );
}

#[test]
fn names_of_backends_are_read_and_written() {
    for kind in BOTH {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    let error = "fast".parse::<Stacks>().expect_err("not a backend");
    assert_eq!(
        error.to_string(),
        "unknown stack backend `fast`: use `dense` or `generator`"
    );
}
