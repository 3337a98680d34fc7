//! A ready thread is mounted within a bounded number of mounts, and nothing from outside starves. Counted in mounts,
//! never in time.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use vt_runtime::net::UnixStream;
use vt_runtime::sync::mpsc;
use vt_runtime::thread::{self, Builder};
use vt_runtime::{Runtime, Stacks};
use vt_tests::{BACKENDS, Deadline, Gate};

/// Threads that are always ready.
const BUSY: u64 = 100;
/// Mounts between two looks outside, and between two starts, as `carrier/` has them.
const LOOK_EVERY: u64 = 61;
const START_EVERY: u64 = 8;

fn one_carrier(stacks: Stacks) -> Runtime {
    let runtime = Runtime::builder().stacks(stacks).carriers(1).build();
    runtime.expect("a carrier starts")
}

/// Keeps the carrier busy until the gate opens.
fn busy(runtime: &Runtime, gate: &Gate, count: u64) -> Vec<thread::JoinHandle<()>> {
    let started = Arc::new(AtomicU64::new(0));
    let threads = (0..count)
        .map(|_| {
            let (gate, started) = (gate.clone(), Arc::clone(&started));
            runtime.spawn(move || {
                started.fetch_add(1, Ordering::SeqCst);
                while !gate.is_open() {
                    thread::yield_now();
                }
            })
        })
        .collect();
    while started.load(Ordering::SeqCst) < count {
        std::thread::yield_now();
    }
    threads
}

fn join_all(threads: Vec<thread::JoinHandle<()>>) {
    for thread in threads {
        thread.join().expect("no panic");
    }
}

#[test]
fn a_woken_thread_waits_for_those_that_were_ready_before_it() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = one_carrier(stacks);
        let gate = Gate::new();
        let threads = busy(&runtime, &gate, BUSY);
        let seen = Arc::new(AtomicU64::new(0));
        let (mounts, at_wake) = (runtime.clone(), Arc::clone(&seen));
        let sleeper = runtime.spawn(move || {
            thread::park();
            mounts.metrics().mounts - at_wake.load(Ordering::SeqCst)
        });
        let (mounts, woken) = (runtime.clone(), sleeper.thread().clone());
        let waker = runtime.spawn(move || {
            // Until the sleeper has parked.
            (0..3).for_each(|_| thread::yield_now());
            seen.store(mounts.metrics().mounts, Ordering::SeqCst);
            woken.unpark();
        });
        waker.join().expect("no panic");
        let waited = sleeper.join().expect("no panic");
        gate.open();
        join_all(threads);
        let bound = BUSY + BUSY / START_EVERY + BUSY / LOOK_EVERY + 3;
        assert!(
            waited <= bound,
            "{stacks}: {waited} mounts, at most {bound}"
        );
    }
}

#[test]
fn a_yield_goes_behind_all_who_are_ready() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = one_carrier(stacks);
        let gate = Gate::new();
        let threads = busy(&runtime, &gate, BUSY);
        let mounts = runtime.clone();
        let between: Vec<u64> = runtime.run(|| {
            let turn = |_| {
                let before = mounts.metrics().mounts;
                thread::yield_now();
                mounts.metrics().mounts - before
            };
            (0..20).map(turn).collect()
        });
        gate.open();
        join_all(threads);
        for waited in between {
            assert!(
                (BUSY..=BUSY + BUSY / START_EVERY + 3).contains(&waited),
                "{stacks}: {waited} mounts between two turns"
            );
        }
    }
}

#[test]
fn what_is_spawned_from_outside_starts_on_a_busy_carrier() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = one_carrier(stacks);
        let gate = Gate::new();
        let threads = busy(&runtime, &gate, 2);
        let opens = gate.clone();
        // Only this ends the others.
        runtime.spawn(move || opens.open());
        join_all(threads);
    }
}

#[test]
fn timers_and_descriptors_are_seen_on_a_busy_carrier() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = one_carrier(stacks);
        for case in ["timer", "descriptor"] {
            let gate = Gate::new();
            let threads = busy(&runtime, &gate, 2);
            let opens = gate.clone();
            match case {
                "timer" => runtime.spawn(move || {
                    thread::sleep(Duration::from_millis(2));
                    opens.open();
                }),
                _ => {
                    let (mut ours, mut theirs) = UnixStream::pair().expect("two sockets");
                    let reader = runtime.spawn(move || {
                        theirs.read_exact(&mut [0]).expect("one byte");
                        opens.open();
                    });
                    ours.write_all(&[1]).expect("there is room");
                    reader
                }
            };
            join_all(threads);
        }
    }
}

#[test]
fn descriptors_are_seen_on_a_carrier_that_another_keeps_waking() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = Runtime::builder().stacks(stacks).carriers(2).build();
        let runtime = runtime.expect("carriers start");
        let gate = Gate::new();
        let (there, asked) = mpsc::channel();
        let (back, answered) = mpsc::channel();
        let is_open = gate.clone();
        let asks = Builder::new().carrier(1).spawn_in(&runtime, move || {
            while !is_open.is_open() {
                there.send(()).expect("it listens");
                answered.recv().expect("it answers");
            }
        });
        let answers = Builder::new().carrier(0).spawn_in(&runtime, move || {
            asked
                .into_iter()
                .for_each(|()| back.send(()).expect("it listens"));
        });
        let (mut ours, mut theirs) = UnixStream::pair().expect("two sockets");
        let opens = gate.clone();
        let reader = Builder::new().carrier(0).spawn_in(&runtime, move || {
            theirs.read_exact(&mut [0]).expect("one byte");
            opens.open();
        });
        ours.write_all(&[1]).expect("there is room");
        join_all(
            [asks, answers, reader]
                .map(|thread| thread.expect("spawned"))
                .into(),
        );
    }
}

#[test]
fn a_flood_of_unstarted_threads_does_not_starve_the_started() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let runtime = one_carrier(stacks);
        let ended = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&ended);
        let (turns, before_the_end) = runtime.run(|| {
            for _ in 0..2000 {
                let ended = Arc::clone(&counted);
                thread::spawn(move || {
                    ended.fetch_add(1, Ordering::SeqCst);
                });
            }
            let mut turns = 0;
            while turns < 100 {
                thread::yield_now();
                turns += 1;
            }
            (turns, counted.load(Ordering::SeqCst))
        });
        assert!(
            turns == 100 && before_the_end < 2000,
            "{before_the_end} had a turn first"
        );
        while ended.load(Ordering::SeqCst) < 2000 {
            std::thread::yield_now();
        }
    }
}
