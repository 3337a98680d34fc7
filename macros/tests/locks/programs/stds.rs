//! Programs around std's locks, and around the runtime's monitor.

programs! { std
    mutex [] {
        use crate::programs::prelude::*;
        use std::sync::Mutex;

        pub(crate) struct Program {
            total: Mutex<u64>,
            gate: Arc<Gate>,
        }

        impl Driven for Program {
            fn new(gate: Arc<Gate>) -> Self {
                Program { total: Mutex::new(0), gate }
            }
            fn work(&self, mut seed: u64, pause: fn()) {
                for _ in 0..STEPS {
                    let number = next(&mut seed);
                    let mut total = self.total.lock().unwrap();
                    let before = *total;
                    pause();
                    *total = before + number;
                }
            }
            fn outcome(&self) -> u64 {
                *self.total.lock().unwrap()
            }
            fn hold(&self) {
                let _held = self.total.lock().unwrap();
                self.gate.keep();
            }
            fn wait(&self) {
                drop(self.total.lock().unwrap());
            }
        }
    }

    rw_lock [] {
        use crate::programs::prelude::*;
        use std::sync::RwLock;

        pub(crate) struct Program {
            totals: RwLock<[u64; 2]>,
            gate: Arc<Gate>,
        }

        impl Driven for Program {
            fn new(gate: Arc<Gate>) -> Self {
                Program { totals: RwLock::new([0; 2]), gate }
            }
            fn work(&self, mut seed: u64, pause: fn()) {
                for _ in 0..STEPS {
                    let number = next(&mut seed);
                    if !number.is_multiple_of(4) {
                        let totals = self.totals.read().unwrap();
                        let first = totals[0];
                        pause();
                        assert_eq!(first, totals[1], "nobody writes while one reads");
                    }
                    let mut totals = self.totals.write().unwrap();
                    totals[0] += number;
                    pause();
                    totals[1] += number;
                }
            }
            fn outcome(&self) -> u64 {
                self.totals.read().unwrap()[1]
            }
            fn hold(&self) {
                let _held = self.totals.write().unwrap();
                self.gate.keep();
            }
            fn wait(&self) {
                drop(self.totals.read().unwrap());
            }
        }
    }

    condvar [] {
        use crate::programs::prelude::*;
        use std::sync::{Condvar, Mutex};

        pub(crate) struct Program {
            permits: Mutex<usize>,
            changed: Condvar,
            total: AtomicU64,
            gate: Arc<Gate>,
        }

        impl Driven for Program {
            fn new(gate: Arc<Gate>) -> Self {
                Program { permits: Mutex::new(1), changed: Condvar::new(), total: AtomicU64::new(0), gate }
            }
            fn work(&self, mut seed: u64, pause: fn()) {
                for _ in 0..STEPS {
                    let number = next(&mut seed);
                    self.acquire();
                    add(&self.total, number, pause);
                    self.release();
                }
            }
            fn outcome(&self) -> u64 {
                self.total.load(Relaxed)
            }
            fn hold(&self) {
                self.acquire();
                self.gate.keep();
                self.release();
            }
            fn wait(&self) {
                self.acquire();
                self.release();
            }
        }

        impl Program {
            fn acquire(&self) {
                let mut permits = self.permits.lock().unwrap();
                while *permits == 0 {
                    permits = self.changed.wait(permits).unwrap();
                }
                *permits -= 1;
            }
            fn release(&self) {
                *self.permits.lock().unwrap() += 1;
                self.changed.notify_one();
            }
        }
    }

    monitor [monitor = "reentrant"] {
        use crate::programs::prelude::*;
        use vt_runtime::sync::Monitor;

        pub(crate) struct Program {
            total: Monitor<Cell<u64>>,
            gate: Arc<Gate>,
        }

        impl Driven for Program {
            fn new(gate: Arc<Gate>) -> Self {
                Program { total: Monitor::new(Cell::new(0)), gate }
            }
            fn work(&self, mut seed: u64, pause: fn()) {
                for _ in 0..STEPS {
                    let number = next(&mut seed);
                    let outer = self.total.enter();
                    let before = outer.get();
                    pause();
                    self.total.enter().set(before + number);
                }
            }
            fn outcome(&self) -> u64 {
                self.total.enter().get()
            }
            fn hold(&self) {
                let _held = self.total.enter();
                self.gate.keep();
            }
            fn wait(&self) {
                drop(self.total.enter());
            }
        }
    }

    barrier [] {
        use crate::programs::prelude::*;
        use std::sync::Barrier;

        pub(crate) struct Program {
            round: Barrier,
            pair: Barrier,
            leaders: AtomicU64,
            gate: Arc<Gate>,
        }

        impl Driven for Program {
            fn new(gate: Arc<Gate>) -> Self {
                Program { round: Barrier::new(THREADS as usize), pair: Barrier::new(2), leaders: AtomicU64::new(0), gate }
            }
            fn work(&self, mut seed: u64, pause: fn()) {
                for _ in 0..STEPS {
                    let number = next(&mut seed);
                    if number.is_multiple_of(2) {
                        pause();
                    }
                    if self.round.wait().is_leader() {
                        add(&self.leaders, 1, pause);
                    }
                    self.round.wait();
                }
            }
            fn outcome(&self) -> u64 {
                self.leaders.load(Relaxed)
            }
            fn hold(&self) {
                self.gate.keep();
                self.pair.wait();
            }
            fn wait(&self) {
                self.pair.wait();
            }
        }
    }

    once [] {
        use crate::programs::prelude::*;
        use std::sync::Once;

        pub(crate) struct Program {
            parts: Vec<Once>,
            total: AtomicU64,
            gate: Arc<Gate>,
        }

        impl Driven for Program {
            fn new(gate: Arc<Gate>) -> Self {
                Program { parts: (0..STEPS).map(|_| Once::new()).collect(), total: AtomicU64::new(0), gate }
            }
            fn work(&self, mut seed: u64, pause: fn()) {
                for _ in 0..STEPS {
                    let number = next(&mut seed);
                    let part = number as usize % STEPS;
                    self.parts[part].call_once(|| {
                        pause();
                        self.total.fetch_add(part as u64, Relaxed);
                    });
                    assert!(self.parts[part].is_completed());
                }
            }
            fn outcome(&self) -> u64 {
                for (part, once) in self.parts.iter().enumerate() {
                    once.call_once(|| {
                        self.total.fetch_add(part as u64, Relaxed);
                    });
                }
                self.total.load(Relaxed)
            }
            fn hold(&self) {
                self.parts[0].call_once(|| self.gate.keep());
            }
            fn wait(&self) {
                self.parts[0].call_once(|| unreachable!("the holder is first"));
            }
        }
    }

    once_lock [] {
        use crate::programs::prelude::*;
        use std::sync::OnceLock;

        pub(crate) struct Program {
            parts: Vec<OnceLock<u64>>,
            made: AtomicU64,
            gate: Arc<Gate>,
        }

        impl Driven for Program {
            fn new(gate: Arc<Gate>) -> Self {
                Program { parts: (0..STEPS).map(|_| OnceLock::new()).collect(), made: AtomicU64::new(0), gate }
            }
            fn work(&self, mut seed: u64, pause: fn()) {
                for _ in 0..STEPS {
                    let number = next(&mut seed);
                    let part = number as usize % STEPS;
                    let value = self.parts[part].get_or_init(|| {
                        pause();
                        self.made.fetch_add(1, Relaxed);
                        part as u64
                    });
                    assert_eq!(*value, part as u64);
                }
            }
            fn outcome(&self) -> u64 {
                let made = self.parts.iter().filter(|part| part.get().is_some()).count() as u64;
                assert_eq!(self.made.load(Relaxed), made, "each is made once");
                made
            }
            fn hold(&self) {
                self.parts[0].get_or_init(|| {
                    self.gate.keep();
                    7
                });
            }
            fn wait(&self) {
                assert_eq!(*self.parts[0].get_or_init(|| 0), 7);
            }
        }
    }

    lazy_lock [] {
        use crate::programs::prelude::*;
        use std::sync::LazyLock;

        type Make = Box<dyn FnOnce() -> u64 + Send>;

        pub(crate) struct Program {
            parts: Vec<LazyLock<u64, Make>>,
            kept: LazyLock<u64, Make>,
            gate: Arc<Gate>,
        }

        impl Driven for Program {
            fn new(gate: Arc<Gate>) -> Self {
                let part = |part: usize| LazyLock::new(Box::new(move || part as u64) as Make);
                let keeper = Arc::clone(&gate);
                let kept = LazyLock::new(Box::new(move || {
                    keeper.keep();
                    7_u64
                }) as Make);
                Program { parts: (0..STEPS).map(part).collect(), kept, gate }
            }
            fn work(&self, mut seed: u64, pause: fn()) {
                for _ in 0..STEPS {
                    let number = next(&mut seed);
                    let part = number as usize % STEPS;
                    assert_eq!(*self.parts[part], part as u64);
                    pause();
                }
            }
            fn outcome(&self) -> u64 {
                self.parts.iter().map(|part| **part).sum()
            }
            fn hold(&self) {
                assert_eq!(*self.kept, 7);
                assert!(Arc::strong_count(&self.gate) > 0);
            }
            fn wait(&self) {
                assert_eq!(*self.kept, 7);
            }
        }
    }
}
