//! Admission, reuse, leaks and idle memory, in every setup.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use super::super::*;
use super::child::each_in_a_child;
use super::{Setup, setups, start, start_on, use_up};

fn nobody() -> ThreadLabel {
    ThreadLabel { id: 0, name: None }
}

#[test]
fn stacks_are_used_again() {
    for setup in setups() {
        let pool = setup.pool(1000);
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
        assert_eq!(seen.len(), 1, "{setup:?}: one at a time needs one stack");
    }
}

#[test]
fn at_the_cap_a_place_is_refused_until_one_comes_back() {
    for setup in setups() {
        let pool = setup.pool(3);
        let mut places: Vec<_> = (0..3)
            .map(|_| pool.reserve(16 << 10).expect("below the cap"))
            .collect();
        assert_eq!((pool.kind(), pool.cap(), pool.live()), (setup.0, 3, 3));
        match pool.reserve(16 << 10) {
            Err(StackError::Limit { live: 3, cap: 3 }) => {}
            other => panic!("{setup:?}: {:?}", other.err()),
        }
        assert_eq!(pool.live(), 3, "{setup:?}: a refusal takes no place");
        places.pop();
        let place = pool.reserve(16 << 10).expect("one came back");
        drop((place, places));
        assert_eq!(pool.live(), 0, "{setup:?}");
    }
}

#[test]
fn an_idle_place_of_another_size_or_thread_serves_at_the_cap() {
    for setup in setups() {
        let pool = setup.pool(4);
        for size in [64 << 10, 1 << 20, 64 << 10] {
            let all: Vec<_> = (0..4)
                .map(|_| start_on(&pool, "sized", size, || ()))
                .collect();
            assert_eq!(pool.live(), 4, "{setup:?}");
            drop(all);
            let there = std::thread::scope(|scope| {
                let thread = std::thread::Builder::new();
                let all = || {
                    [(); 4]
                        .map(|()| start_on(&pool, "sized", size, || ()))
                        .len()
                };
                thread
                    .spawn_scoped(scope, all)
                    .expect("one more thread")
                    .join()
            });
            assert_eq!(there.expect("no place is refused"), 4, "{setup:?}");
            assert_eq!(pool.live(), 0, "{setup:?}");
        }
    }
}

#[test]
fn threads_at_the_cap_never_see_more_or_fewer_places() {
    const EACH: usize = 50;
    for setup in setups() {
        let pool = setup.pool(4 * EACH);
        let reserve_often = || {
            for _ in 0..200 {
                let places: Vec<_> = (0..EACH)
                    .map(|_| pool.reserve(64 << 10).expect("every thread has its share"))
                    .collect();
                assert!(pool.live() <= pool.cap());
                drop(places);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                std::thread::Builder::new()
                    .spawn_scoped(scope, reserve_often)
                    .expect("four threads");
            }
        });
        assert_eq!(pool.live(), 0, "{setup:?}");
    }
}

#[test]
fn a_stack_outlives_its_pool() {
    for setup in setups() {
        let pool = setup.pool(10);
        let (early, late) = (start(&pool, suspend), start(&pool, suspend));
        let mut both = [early, late];
        for one in &mut both {
            assert_eq!(one.resume(), Step::Suspended, "{setup:?}");
        }
        drop(pool);
        for one in &mut both {
            assert_eq!(one.resume(), Step::Finished, "{setup:?}");
        }
        drop(both);
    }
}

#[test]
fn memory_of_a_pool_that_is_gone_is_given_back() {
    for leaks in [false, true] {
        let pool = Arc::new(StackPool::new(Stacks::Dense, None));
        let mut all: Vec<_> = (0..500).map(|_| start(&pool, suspend)).collect();
        assert!(all.iter_mut().all(|one| one.resume() == Step::Suspended));
        let extents: Vec<_> = all.iter().map(|one| one.bounds()).collect();
        let mut rest = all.split_off(250);
        if leaks {
            drop(rest.pop());
        }
        assert!(all.iter_mut().all(|one| one.resume() == Step::Finished));
        drop((all, pool));
        assert!(rest.iter_mut().all(|one| one.resume() == Step::Finished));
        drop(rest);
        let resident = extents
            .iter()
            .filter(|extent| stack_used(extent) > 0)
            .count();
        // Other tests may have mapped something of theirs where the slabs were.
        assert!(
            resident < 100,
            "{resident} of 500 stacks are still in memory"
        );
    }
}

#[test]
fn a_size_nobody_can_have_is_an_error() {
    for setup in setups() {
        let pool = setup.pool(1000);
        let refused = pool
            .reserve(usize::MAX / 2)
            .and_then(|place| Continuation::new(place, nobody(), || ()));
        assert!(matches!(refused, Err(StackError::Refused(_))), "{setup:?}");
        assert_eq!(pool.live(), 0, "{setup:?}");
    }
}

#[test]
fn dropping_a_suspended_continuation_leaks_its_stack() {
    for setup in setups() {
        let pool = setup.pool(1000);
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
        assert_eq!((pool.live(), pool.leaked()), (1, 1), "{setup:?}");
        assert_eq!(
            Rc::strong_count(&token),
            2,
            "{setup:?}: nothing on the stack was dropped"
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
            "{setup:?}: the leaked stack is gone"
        );
    }
}

/// Two rounds: one that sees what is idle, one that gives back what still is.
fn let_idle_memory_go(pool: &StackPool) {
    for _ in 0..2 {
        while pool.give_back_idle() {}
    }
}

#[test]
fn memory_of_a_burst_is_given_back() {
    const BURST: usize = 6000;
    let act = |setup: Setup| {
        let pool = setup.pool(BURST);
        let mut all: Vec<_> = (0..BURST).map(|_| start(&pool, suspend)).collect();
        assert!(all.iter_mut().all(|one| one.resume() == Step::Suspended));
        assert!(all.iter_mut().all(|one| one.resume() == Step::Finished));
        let extents: Vec<_> = all.iter().map(|one| one.bounds()).collect();
        let resident = || {
            extents
                .iter()
                .filter(|extent| stack_used(extent) > 0)
                .count()
        };
        drop(all);
        assert_eq!(resident(), BURST, "{setup:?}: they may be needed at once");
        assert!(pool.has_idle(), "{setup:?}");
        let_idle_memory_go(&pool);
        assert!(!pool.has_idle(), "{setup:?}");
        assert!(
            resident() < 100,
            "{setup:?}: {} are still resident",
            resident()
        );
        // What was given back serves again.
        let mut all: Vec<_> = (0..BURST).map(|_| start(&pool, suspend)).collect();
        assert!(all.iter_mut().all(|one| one.resume() == Step::Suspended));
        assert!(all.iter_mut().all(|one| one.resume() == Step::Finished));
    };
    // Other tests' memory may come to lie where a stack was unmapped.
    each_in_a_child(
        "pool::memory_of_a_burst_is_given_back",
        act,
        |setup, ending| assert!(ending.status.success(), "{setup:?}: {}", ending.said),
    );
}

#[test]
fn memory_in_steady_use_is_kept() {
    let pool = Arc::new(StackPool::new(Stacks::Dense, None));
    let run_together = |count: usize| {
        let mut all: Vec<_> = (0..count).map(|_| start(&pool, suspend)).collect();
        assert!(all.iter_mut().all(|one| one.resume() == Step::Suspended));
        assert!(all.iter_mut().all(|one| one.resume() == Step::Finished));
        all.iter().map(|one| one.bounds()).collect::<Vec<_>>()
    };
    let extents = run_together(2000);
    for _ in 0..5 {
        while pool.give_back_idle() {}
        run_together(2000);
    }
    assert!(extents.iter().all(|extent| stack_used(extent) > 0));
}

#[test]
fn finished_generators_of_another_size_make_room() {
    for setup in setups().filter(|setup| setup.0 == Stacks::Generator) {
        let pool = setup.pool(2);
        for size in [64 << 10, 1 << 20, 256 << 10, 64 << 10] {
            let mut both = [(); 2].map(|()| start_on(&pool, "sized", size, suspend));
            for one in &mut both {
                assert_eq!(one.resume(), Step::Suspended, "{setup:?}");
                assert!(one.bounds().len() >= size, "{setup:?}");
                assert_eq!(one.resume(), Step::Finished, "{setup:?}");
            }
            drop(both);
            assert!(
                pool.finished_generators() <= 2,
                "{setup:?}: more mapped than there may be"
            );
        }
    }
}

#[test]
fn reservations_come_from_any_thread() {
    for setup in setups() {
        let pool = setup.pool(400);
        let places = std::thread::scope(|scope| {
            let reserve = || {
                (0..100)
                    .map(|_| pool.reserve(64 << 10).expect("below the cap"))
                    .collect()
            };
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    std::thread::Builder::new()
                        .spawn_scoped(scope, reserve)
                        .expect("four threads")
                })
                .collect();
            threads
                .into_iter()
                .flat_map(|thread| -> Vec<Reservation> {
                    thread.join().expect("reserving succeeds")
                })
                .collect::<Vec<_>>()
        });
        assert_eq!(pool.live(), 400, "{setup:?}");
        assert!(pool.reserve(64 << 10).is_err(), "{setup:?}");
        let lows = Rc::new(RefCell::new(HashSet::new()));
        let mut all: Vec<_> = places
            .into_iter()
            .map(|place| {
                let lows = Rc::clone(&lows);
                Continuation::new(place, nobody(), move || {
                    lows.borrow_mut()
                        .insert(stack_bounds().expect("it is mounted").start);
                    suspend();
                })
                .expect("there is memory")
            })
            .collect();
        assert!(
            all.iter_mut().all(|one| one.resume() == Step::Suspended),
            "{setup:?}"
        );
        assert_eq!(
            lows.borrow().len(),
            400,
            "{setup:?}: two threads on one stack"
        );
        assert!(
            all.iter_mut().all(|one| one.resume() == Step::Finished),
            "{setup:?}"
        );
        drop(all);
        assert_eq!(pool.live(), 0, "{setup:?}");
    }
}

/// A small generator of numbers: the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Makes, resumes, finishes and forgets threads of many sizes at random. Each fills a part of its stack
/// with its own mark and finds it unchanged after every suspension.
fn live_at_random(pool: &Arc<StackPool>, seed: u64) {
    let mut dice = Dice(seed);
    let mut living: Vec<Continuation> = Vec::new();
    for step in 0..4000_u64 {
        let mark = (seed << 32 | step).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        match dice.below(4) {
            0 | 1 => {
                let size = [16 << 10, 64 << 10, 192 << 10, 1 << 20][dice.below(4)];
                let rounds = dice.below(5);
                let Ok(place) = pool.reserve(size) else {
                    living.clear();
                    continue;
                };
                let body = move || {
                    let marks = std::hint::black_box([mark; 512]);
                    for _ in 0..rounds {
                        suspend();
                        assert!(
                            marks.iter().all(|&found| found == mark),
                            "somebody else was here"
                        );
                    }
                };
                living.push(Continuation::new(place, nobody(), body).expect("there is memory"));
            }
            2 if !living.is_empty() => {
                let at = dice.below(living.len());
                if living[at].resume() == Step::Finished {
                    living.swap_remove(at);
                }
            }
            _ if !living.is_empty() => {
                let at = dice.below(living.len());
                while living[at].resume() == Step::Suspended {}
                living.swap_remove(at);
            }
            _ => {}
        }
        if dice.below(500) == 0 {
            pool.give_back_idle();
        }
    }
    for one in &mut living {
        while one.resume() == Step::Suspended {}
    }
}

#[test]
fn stacks_are_never_shared_whatever_happens() {
    for setup in setups() {
        let pool = setup.pool(600);
        std::thread::scope(|scope| {
            for seed in 1..=4 {
                let pool = &pool;
                std::thread::Builder::new()
                    .spawn_scoped(scope, move || live_at_random(pool, seed))
                    .expect("four threads");
            }
        });
        assert_eq!(pool.live(), pool.leaked(), "{setup:?}");
    }
}
