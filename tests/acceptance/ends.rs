//! Bounded shutdown, interrupts and limits, as the acceptance cases state them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use vt_runtime::event::{Event, WaitOutcome};
use vt_runtime::sync::{Condition, LockError, Monitor, ReentrantLock, WaitError, mpsc};
use vt_runtime::thread::{self, Builder, JoinHandle, SleepOutcome};
use vt_runtime::{Runtime, SpawnError, native};
use vt_tests::{BACKENDS, Deadline, Gate, T, foreign, runtime, until_it_waits};

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn oc_12_a_shutdown_leaves_native_frames_alone() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, _capture) = runtime(stacks, 2);
        let drops: [_; 3] = std::array::from_fn(|_| Arc::new(AtomicUsize::new(0)));
        let inside = [Gate::new(), Gate::new()];
        let count = |index: usize| Counted(Arc::clone(&drops[index]));
        let (in_c, parked, up_call) = (count(0), count(1), count(2));
        let gates = inside.clone();
        let blocked = Builder::new()
            .name("A")
            .carrier(0)
            .spawn_in(&runtime, move || {
                let _counted = in_c;
                gates[0].open();
                foreign::block(5000);
            });
        let _forever = Builder::new()
            .name("B")
            .carrier(1)
            .spawn_in(&runtime, move || {
                let _counted = parked;
                loop {
                    thread::park();
                }
            });
        let gates = inside.clone();
        let _up_call = Builder::new()
            .name("C")
            .carrier(1)
            .spawn_in(&runtime, move || {
                let _counted = up_call;
                foreign::call_back(|| {
                    gates[1].open();
                    thread::sleep(50 * T);
                });
            });
        inside.iter().for_each(Gate::pass);
        let start = Instant::now();
        let report = runtime.shutdown(5 * T);
        let took = start.elapsed().as_secs_f64() / T.as_secs_f64();
        assert!((4.9..11.0).contains(&took), "the shutdown took {took} T");
        let names = |list: &[thread::ThreadInfo]| {
            list.iter()
                .map(|info| info.name.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&report.native), ["A", "C"], "{report:?}");
        assert_eq!(report.native[0].native, Some("c_block"));
        assert_eq!(report.native[0].carrier, Some(0));
        assert_eq!(report.native[1].native, Some("c_call_back"));
        let counts: Vec<_> = drops
            .iter()
            .map(|count| count.load(Ordering::SeqCst))
            .collect();
        // B shares its carrier with C's pin: it may be asked to unwind, but cannot be mounted.
        assert_eq!((counts[0], counts[2]), (0, 0));
        assert!(!report.is_complete());
        drop(blocked);
    }
}

#[test]
fn oc_12_a_parked_thread_is_unwound() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, _capture) = runtime(stacks, 2);
        let drops = Arc::new(AtomicUsize::new(0));
        let counted = Counted(Arc::clone(&drops));
        let entered = Gate::new();
        let inside = entered.clone();
        let blocked = Builder::new().carrier(0).spawn_in(&runtime, move || {
            inside.open();
            foreign::block(5000);
        });
        let parked = Builder::new()
            .name("B")
            .carrier(1)
            .spawn_in(&runtime, move || {
                let _counted = counted;
                loop {
                    thread::park();
                }
            });
        entered.pass();
        let report = runtime.shutdown(T);
        assert_eq!(report.cancelled.len(), 1, "{report:?}");
        assert_eq!(&*report.cancelled[0].name, "B");
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        assert!(parked.expect("spawned").join().is_err());
        drop(blocked);
    }
}

#[test]
fn oc_12_a_swallowed_cancel_is_refused_and_never_spins() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, _capture) = runtime(stacks, 1);
        let stubborn = Builder::new().name("stubborn").spawn_in(&runtime, || {
            loop {
                let _ = std::panic::catch_unwind(thread::park);
            }
        });
        until_it_waits(&runtime, stubborn.as_ref().expect("spawned").thread());
        let report = runtime.shutdown(T / 2);
        assert_eq!(report.refused.len(), 1, "{report:?}");
        assert!(
            stubborn.expect("spawned").join().is_err(),
            "who joins it is let go"
        );
    }
}

/// Interrupts a thread once it waits; what it returns, and whether its flag is set then.
fn interrupted<T: Send + 'static>(
    runtime: &Runtime,
    body: impl FnOnce() -> T + Send + 'static,
) -> (T, bool) {
    let target = runtime.spawn(move || (body(), thread::current().is_interrupted()));
    until_it_waits(runtime, target.thread());
    target.thread().interrupt();
    target.join().expect("no panic")
}

#[test]
fn oc_19_the_table_of_interrupts() {
    let _deadline = Deadline::standard();
    for (stacks, carriers) in BACKENDS
        .into_iter()
        .flat_map(|stacks| [(stacks, 1), (stacks, 2)])
    {
        let (runtime, capture) = runtime(stacks, carriers);
        let minute = Duration::from_secs(60);
        assert_eq!(interrupted(&runtime, thread::park), ((), true));
        let sleep = move || thread::sleep_interruptibly(minute);
        assert_eq!(
            interrupted(&runtime, sleep),
            (SleepOutcome::Interrupted, false)
        );

        let lock = Arc::new(ReentrantLock::new(()));
        let held = lock.lock();
        let wanted = Arc::clone(&lock);
        let locking = move || wanted.lock_interruptibly().map(drop);
        assert_eq!(
            interrupted(&runtime, locking),
            (Err(LockError::Interrupted), false)
        );
        let wanted = Arc::clone(&lock);
        let trying = move || wanted.try_lock_for(minute).is_some();
        assert_eq!(interrupted(&runtime, trying), (false, true));
        let wanted = Arc::clone(&lock);
        let plain = runtime.spawn(move || {
            drop(wanted.lock());
            thread::current().is_interrupted()
        });
        until_it_waits(&runtime, plain.thread());
        plain.thread().interrupt();
        assert!(!plain.is_finished());
        drop(held);
        assert!(
            plain.join().expect("no panic"),
            "a plain lock waits on and keeps the flag"
        );

        let pair = Arc::new((ReentrantLock::new(()), Condition::new()));
        let waited = Arc::clone(&pair);
        let awaiting = move || {
            let mut guard = waited.0.lock();
            let ended = waited.1.wait(&mut guard);
            // Held again: another thread cannot have it.
            let taken = std::thread::scope(|s| s.spawn(|| waited.0.try_lock().is_none()).join());
            (ended, taken.expect("no panic"))
        };
        assert_eq!(
            interrupted(&runtime, awaiting),
            ((Err(WaitError::Interrupted), true), false)
        );

        let endless = runtime.spawn(|| {
            loop {
                thread::park();
            }
        });
        let joining = move || endless.join_interruptibly().is_err();
        assert_eq!(interrupted(&runtime, joining), (true, false));

        let (_sender, receiver) = mpsc::channel::<()>();
        let receiving = move || receiver.recv_interruptibly().is_err();
        assert_eq!(interrupted(&runtime, receiving), (true, false));

        let monitor = Arc::new(Monitor::new(()));
        let waited = Arc::clone(&monitor);
        let waiting = move || waited.wait(&mut waited.enter());
        assert_eq!(
            interrupted(&runtime, waiting),
            (Err(WaitError::Interrupted), false)
        );

        assert_eq!(capture.pinned(&runtime), []);
        let pinned = move || {
            let monitor = Monitor::new(());
            let _pin = monitor.enter();
            thread::sleep_interruptibly(minute)
        };
        assert_eq!(
            interrupted(&runtime, pinned),
            (SleepOutcome::Interrupted, false)
        );
        let pins = capture.pinned(&runtime);
        assert_eq!(pins.len(), 1, "{pins:?}");
        assert_eq!(pins[0].outcome, WaitOutcome::Interrupted);

        let inside = Gate::new();
        let entered = inside.clone();
        let native = runtime.spawn(move || {
            let start = Instant::now();
            entered.open();
            native::call("c_block", || foreign::block(50));
            (
                start.elapsed() >= Duration::from_millis(50),
                thread::current().is_interrupted(),
            )
        });
        inside.pass();
        native.thread().interrupt();
        assert_eq!(native.join().expect("no panic"), (true, true));
        let timed = runtime.spawn(|| {
            thread::park_timeout(Duration::from_millis(1));
            thread::current().is_interrupted()
        });
        assert!(!timed.join().expect("no panic"), "a time-out sets no flag");
    }
}

#[test]
fn oc_19_an_interrupt_before_the_wait_counts() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, _capture) = runtime(stacks, 1);
        let early = runtime.spawn(|| {
            thread::current().interrupt();
            let slept = thread::sleep_interruptibly(Duration::from_secs(60));
            (slept, thread::current().is_interrupted())
        });
        assert_eq!(
            early.join().expect("no panic"),
            (SleepOutcome::Interrupted, false)
        );
    }
}

#[test]
fn oc_16_the_stack_limit_is_an_error_and_stacks_are_reused() {
    let _deadline = Deadline::after(Duration::from_secs(120));
    for stacks in BACKENDS {
        let (builder, capture) = vt_tests::builder(stacks, 2);
        // The dense backend's own cap lies at what memory allows; a cap shows the same refusal sooner.
        let runtime = builder
            .max_threads(20_000)
            .stack_size(16 * 1024)
            .build()
            .expect("carriers start");
        let mut reached = Vec::new();
        for _round in 0..2 {
            let gate = Gate::new();
            let mut parked: Vec<JoinHandle<()>> = Vec::new();
            let refusal = loop {
                let open = gate.clone();
                let spawned = Builder::new().spawn_in(&runtime, move || {
                    while !open.is_open() {
                        thread::park();
                    }
                });
                match spawned {
                    Ok(handle) => parked.push(handle),
                    Err(error) => break error,
                }
            };
            let SpawnError::StackLimit { live, cap, .. } = &refusal else {
                panic!("{refusal}")
            };
            assert!(*live <= *cap && *live >= parked.len(), "{refusal}");
            assert!(refusal.to_string().contains(&cap.to_string()), "{refusal}");
            let os_thread = std::thread::Builder::new()
                .spawn(|| 1)
                .expect("OS threads are still to be had");
            assert_eq!(os_thread.join().expect("no panic"), 1);
            assert_eq!(vec![1_u8; 64 << 20].len(), 64 << 20);
            reached.push(parked.len());
            gate.open();
            parked.iter().for_each(|handle| handle.thread().unpark());
            parked
                .into_iter()
                .for_each(|handle| handle.join().expect("no panic"));
        }
        assert!(reached[1] as f64 >= reached[0] as f64 * 0.99, "{reached:?}");
        let refusals = capture
            .events(&runtime)
            .into_iter()
            .filter(|event| matches!(event, Event::VirtualThreadSubmitFailed { cap: 1.., .. }));
        assert_eq!(refusals.count(), 2);
    }
}
