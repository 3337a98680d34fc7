//! What an interrupt leaves alone: the waits with std's names wait on, and no flag or permit is eaten by the wrong wait.

use std::time::{Duration, Instant};

use vt_runtime::thread::{self, SleepOutcome};
use vt_tests::{BACKENDS, Deadline, Gate, runtime, until_it_waits};

/// Far beyond what a test takes, so that a wait that ends has been ended.
const LONG: Duration = Duration::from_secs(3600);

#[test]
fn a_plain_sleep_sleeps_on_and_keeps_the_flag() {
    let _deadline = Deadline::standard();
    const TIME: Duration = Duration::from_millis(300);
    for stacks in BACKENDS {
        let (runtime, _capture) = runtime(stacks, 1);
        for early in [true, false] {
            let sleeper = runtime.spawn(move || {
                let me = thread::current();
                if early {
                    me.interrupt();
                }
                // On the one carrier: it runs while this one sleeps.
                let interrupter = thread::spawn(move || me.interrupt());
                let start = Instant::now();
                thread::sleep(TIME);
                let slept = start.elapsed() >= TIME;
                interrupter.join().expect("no panic");
                (slept, thread::current().is_interrupted())
            });
            assert_eq!(sleeper.join().expect("no panic"), (true, true));
        }
    }
}

#[test]
fn a_plain_join_waits_on_and_keeps_the_flag() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, _capture) = runtime(stacks, 1);
        let gate = Gate::new();
        let passes = gate.clone();
        let joined = runtime.spawn(move || {
            while !passes.is_open() {
                thread::park();
            }
            7
        });
        let target = joined.thread().clone();
        let joiner = runtime.spawn(move || {
            let value = joined.join().expect("no panic");
            (value, thread::current().is_interrupted())
        });
        until_it_waits(&runtime, joiner.thread());
        joiner.thread().interrupt();
        // Whatever the interrupt did has been done when the one carrier has run another.
        runtime.run(thread::yield_now);
        assert!(!joiner.is_finished());
        gate.open();
        target.unpark();
        assert_eq!(joiner.join().expect("no panic"), (7, true));
    }
}

#[test]
fn a_sleep_leaves_the_permit_to_the_next_park() {
    let _deadline = Deadline::standard();
    const TIME: Duration = Duration::from_millis(50);
    for stacks in BACKENDS {
        let (runtime, _capture) = runtime(stacks, 1);
        let before = runtime.spawn(|| {
            thread::current().unpark();
            let start = Instant::now();
            thread::sleep(TIME);
            let slept = start.elapsed() >= TIME;
            thread::park_timeout(LONG);
            (slept, start.elapsed() < LONG)
        });
        assert_eq!(before.join().expect("no panic"), (true, true));
        let during = runtime.spawn(|| {
            let me = thread::current();
            let unparker = thread::spawn(move || me.unpark());
            let start = Instant::now();
            thread::sleep(TIME);
            let slept = start.elapsed() >= TIME;
            // Without the permit it would stay here.
            thread::park_timeout(LONG);
            unparker.join().expect("no panic");
            slept && start.elapsed() < LONG
        });
        assert!(during.join().expect("no panic"), "an unpark ends no sleep");
    }
}

#[test]
fn park_returns_at_once_when_interrupted_and_keeps_the_flag() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, _capture) = runtime(stacks, 1);
        let target = runtime.spawn(|| {
            let me = thread::current();
            me.interrupt();
            let flags: Vec<bool> = (0..3)
                .map(|_| {
                    thread::park();
                    me.is_interrupted()
                })
                .collect();
            thread::park_timeout(LONG);
            // Neither did it make a permit: with the flag cleared, a park waits.
            let cleared = thread::sleep_interruptibly(LONG);
            assert_eq!(cleared, SleepOutcome::Interrupted);
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(5) {
                thread::park_timeout(Duration::from_millis(5));
            }
            (flags, me.is_interrupted())
        });
        assert_eq!(target.join().expect("no panic"), (vec![true; 3], false));
    }
}
