//! `#[vt_runtime::park_safe]`: the same program before and after, on OS threads and on virtual ones.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use vt_runtime::event::{CarrierState, Event};
use vt_runtime::{Runtime, thread};
use vt_tests::Deadline;

/// One program, twice: with std's locks, and with the attribute above it.
macro_rules! programs {
    ($($(#[$attribute:meta])* $name:ident)+) => {$(
        $(#[$attribute])*
        mod $name {
            use std::sync::{Arc, Barrier, Condvar, Mutex, RwLock};

            /// A flag to wait for, and to set.
            pub(super) struct Flag {
                set: Mutex<bool>,
                changed: Condvar,
            }

            impl Flag {
                pub(super) fn new() -> Arc<Flag> {
                    Arc::new(Flag { set: Mutex::new(false), changed: Condvar::new() })
                }

                pub(super) fn wait(&self) {
                    let mut set = self.set.lock().unwrap();
                    while !*set {
                        set = self.changed.wait(set).unwrap();
                    }
                }

                pub(super) fn set(&self) {
                    *self.set.lock().unwrap() = true;
                    self.changed.notify_all();
                }
            }

            /// A bank whose accounts keep their sum, whatever is moved between them.
            pub(super) struct Bank {
                accounts: RwLock<Vec<Mutex<u64>>>,
                /// Every transfer made, as a ring buffer that a reader empties.
                journal: Mutex<Vec<u64>>,
                written: Condvar,
                start: Barrier,
            }

            impl Bank {
                pub(super) fn new(accounts: u64, threads: usize) -> Arc<Bank> {
                    Arc::new(Bank {
                        accounts: RwLock::new((0..accounts).map(|_| Mutex::new(100)).collect()),
                        journal: Mutex::new(Vec::new()),
                        written: Condvar::new(),
                        start: Barrier::new(threads),
                    })
                }

                /// Moves money `steps` times, as the seed says; `pause` runs while locks are held.
                pub(super) fn transfer(&self, mut seed: u64, steps: u64, pause: fn()) {
                    self.start.wait();
                    for step in 0..steps {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        let accounts = self.accounts.read().unwrap();
                        let (from, to) = ((seed >> 33) as usize % accounts.len(), (seed >> 45) as usize % accounts.len());
                        if from != to {
                            // One order of locks, whatever the direction.
                            let mut low = accounts[from.min(to)].lock().unwrap();
                            let mut high = accounts[from.max(to)].lock().unwrap();
                            pause();
                            let (from, to) = if from < to { (&mut *low, &mut *high) } else { (&mut *high, &mut *low) };
                            let amount = (seed >> 57).min(*from);
                            *from -= amount;
                            *to += amount;
                        }
                        drop(accounts);
                        if step % 16 == 0 {
                            self.accounts.write().unwrap().rotate_left(1);
                        }
                        self.journal.lock().unwrap().push(step);
                        self.written.notify_one();
                    }
                }

                /// Takes `expected` entries out of the journal, and their sum.
                pub(super) fn read_journal(&self, expected: usize) -> u64 {
                    self.start.wait();
                    let (mut taken, mut sum) = (0, 0);
                    while taken < expected {
                        let mut journal = self.journal.lock().unwrap();
                        while journal.is_empty() {
                            journal = self.written.wait(journal).unwrap();
                        }
                        taken += journal.len();
                        sum += journal.drain(..).sum::<u64>();
                    }
                    sum
                }

                pub(super) fn total(&self) -> u64 {
                    self.accounts.read().unwrap().iter().map(|account| *account.lock().unwrap()).sum()
                }
            }
        }
    )+};
}

programs! {
    plain
    #[vt_runtime::park_safe]
    swapped
}

const THREADS: usize = 6;
const STEPS: u64 = 300;

/// What the stress must end with, for every kind of lock and thread: the money and the journal's sum.
const OUTCOME: (u64, u64) = (5 * 100, THREADS as u64 * (STEPS - 1) * STEPS / 2);

/// Runs the bank on OS threads.
macro_rules! stress_on_os_threads {
    ($program:ident) => {{
        let bank = $program::Bank::new(5, THREADS + 1);
        let sum = std::thread::scope(|scope| {
            for seed in 0..THREADS as u64 {
                let bank = &bank;
                scope.spawn(move || bank.transfer(seed, STEPS, std::thread::yield_now));
            }
            bank.read_journal(THREADS * STEPS as usize)
        });
        (bank.total(), sum)
    }};
}

#[test]
fn os_threads_see_no_difference() {
    let _deadline = Deadline::standard();
    assert_eq!(stress_on_os_threads!(plain), OUTCOME);
    assert_eq!(stress_on_os_threads!(swapped), OUTCOME);
}

#[vt_runtime::test(should_not_pin, carriers = 2)]
fn virtual_threads_yield_under_swapped_locks() {
    let _deadline = Deadline::standard();
    let bank = swapped::Bank::new(5, THREADS + 1);
    let sum = thread::scope(|scope| {
        for seed in 0..THREADS as u64 {
            let bank = &bank;
            scope.spawn(move || bank.transfer(seed, STEPS, thread::yield_now));
        }
        bank.read_journal(THREADS * STEPS as usize)
    });
    assert_eq!((bank.total(), sum), OUTCOME);
}

#[test]
fn both_kinds_of_threads_share_swapped_locks() {
    let _deadline = Deadline::standard();
    let bank = swapped::Bank::new(5, THREADS + 1);
    let runtime = Runtime::builder()
        .carriers(2)
        .build()
        .expect("two carriers");
    let sum = std::thread::scope(|scope| {
        for seed in 0..THREADS as u64 {
            let (bank, runtime) = (&bank, &runtime);
            scope.spawn(move || match seed % 2 {
                0 => bank.transfer(seed, STEPS, std::thread::yield_now),
                _ => runtime.run(|| bank.transfer(seed, STEPS, thread::yield_now)),
            });
        }
        bank.read_journal(THREADS * STEPS as usize)
    });
    assert_eq!((bank.total(), sum), OUTCOME);
}

/// OC-03, the annotated copy: A waits, B runs meanwhile on the same carrier and sets the flag.
#[vt_runtime::test(should_not_pin, carriers = 1)]
fn a_swapped_wait_gives_the_carrier_away() {
    let _deadline = Deadline::standard();
    let flag = swapped::Flag::new();
    let (log, order) = channel();
    let waiter = {
        let (flag, log) = (flag.clone(), log.clone());
        thread::spawn(move || {
            log.send("A waits").expect("a reader");
            flag.wait();
            log.send("A is done").expect("a reader");
        })
    };
    let setter = thread::spawn(move || {
        log.send("B sets").expect("a reader");
        flag.set();
    });
    waiter.join().expect("it ends");
    setter.join().expect("it ends");
    assert_eq!(
        order.try_iter().collect::<Vec<_>>(),
        ["A waits", "B sets", "A is done"]
    );
}

/// OC-03, the plain copy: A blocks the only carrier, B never starts, and the watchdog says so meanwhile.
#[test]
fn a_plain_wait_blocks_the_carrier() {
    let _deadline = Deadline::standard();
    let runtime = Runtime::builder()
        .carriers(1)
        .pin_threshold(Duration::ZERO)
        .build()
        .expect("a carrier");
    let mut reader = runtime.event_reader();
    let flag = plain::Flag::new();
    let (started, starts) = channel();
    let waiter = runtime.spawn({
        let (flag, started) = (flag.clone(), started.clone());
        move || {
            started.send("A").expect("a reader");
            flag.wait();
        }
    });
    assert_eq!(starts.recv_timeout(Duration::from_secs(5)), Ok("A"));
    let setter = runtime.spawn(move || started.send("B").expect("a reader"));

    let asked = Instant::now();
    let mut stalled = None;
    while stalled.is_none() && asked.elapsed() < Duration::from_secs(5) {
        reader.drain(|recorded| {
            if let Event::CarrierStalled(event) = recorded.event {
                stalled = Some(event);
            }
        });
        std::thread::yield_now();
    }
    assert_eq!(
        starts.try_recv().ok(),
        None,
        "B cannot start while A blocks the carrier"
    );
    let stalled = stalled.expect("the watchdog sees the blocked carrier");
    assert_eq!(stalled.state, CarrierState::Blocked);
    assert!(stalled.stranded >= 1, "B is stranded: {stalled:?}");

    flag.set();
    waiter.join().expect("it ends");
    setter.join().expect("it ends");
    assert_eq!(starts.try_recv(), Ok("B"));
}

/// A monitor over a wait: pinned as it is, parked once it is swapped.
macro_rules! monitors {
    ($($(#[$attribute:meta])* $name:ident)+) => {$(
        $(#[$attribute])*
        mod $name {
            use std::time::Duration;
            use vt_runtime::sync::Monitor;

            pub(super) fn turns() -> u32 {
                let monitor = Monitor::new(std::cell::Cell::new(0));
                for _ in 0..3 {
                    let outer = monitor.enter();
                    let inner = monitor.enter();
                    vt_runtime::thread::sleep(Duration::from_millis(1));
                    inner.set(outer.get() + 1);
                }
                monitor.enter().get()
            }
        }
    )+};
}

monitors! {
    pinning
    #[vt_runtime::park_safe(monitor = "reentrant")]
    parking
}

#[vt_runtime::test(should_pin(at_most = 3))]
fn a_monitor_pins_each_wait() {
    assert_eq!(pinning::turns(), 3);
}

#[vt_runtime::test(should_not_pin)]
fn a_swapped_monitor_parks() {
    assert_eq!(parking::turns(), 3);
}

#[vt_runtime::test(should_not_pin, carriers = 1)]
fn poisoning_is_stds() {
    #[vt_runtime::park_safe]
    fn poisoned() -> (bool, u8) {
        use std::sync::{Arc, Mutex};
        let cell = Arc::new(Mutex::new(1));
        let other = Arc::clone(&cell);
        let panicked = thread::spawn(move || {
            let _held = other.lock().unwrap();
            panic!("while it is held");
        });
        panicked.join().expect_err("it panics");
        let poisoned = cell.is_poisoned();
        (
            poisoned,
            *cell
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner),
        )
    }
    assert_eq!(poisoned(), (true, 1));
}
