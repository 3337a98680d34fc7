//! Programs around parking_lot's locks, in both of its versions.

macro_rules! parking_programs {
    ($family:ident $library:ident) => {
        programs! { $family
            mutex [] {
                use crate::programs::prelude::*;
                use $library::Mutex;

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
                            let mut total = self.total.lock();
                            let before = *total;
                            pause();
                            *total = before + number;
                        }
                    }
                    fn outcome(&self) -> u64 {
                        *self.total.lock()
                    }
                    fn hold(&self) {
                        let _held = self.total.lock();
                        self.gate.keep();
                    }
                    fn wait(&self) {
                        drop(self.total.lock());
                    }
                }
            }

            rw_lock [] {
                use crate::programs::prelude::*;
                use $library::RwLock;

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
                                let totals = self.totals.read();
                                let first = totals[0];
                                pause();
                                assert_eq!(first, totals[1], "nobody writes while one reads");
                            }
                            let mut totals = self.totals.write();
                            totals[0] += number;
                            pause();
                            totals[1] += number;
                        }
                    }
                    fn outcome(&self) -> u64 {
                        self.totals.read()[1]
                    }
                    fn hold(&self) {
                        let _held = self.totals.write();
                        self.gate.keep();
                    }
                    fn wait(&self) {
                        drop(self.totals.read());
                    }
                }
            }

            condvar [] {
                use crate::programs::prelude::*;
                use $library::{Condvar, Mutex};

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
                        let mut permits = self.permits.lock();
                        while *permits == 0 {
                            self.changed.wait(&mut permits);
                        }
                        *permits -= 1;
                    }
                    fn release(&self) {
                        *self.permits.lock() += 1;
                        self.changed.notify_one();
                    }
                }
            }

            reentrant_mutex [] {
                use crate::programs::prelude::*;
                use $library::ReentrantMutex;

                pub(crate) struct Program {
                    total: ReentrantMutex<Cell<u64>>,
                    gate: Arc<Gate>,
                }

                impl Driven for Program {
                    fn new(gate: Arc<Gate>) -> Self {
                        Program { total: ReentrantMutex::new(Cell::new(0)), gate }
                    }
                    fn work(&self, mut seed: u64, pause: fn()) {
                        for _ in 0..STEPS {
                            let number = next(&mut seed);
                            let outer = self.total.lock();
                            let before = outer.get();
                            pause();
                            self.total.lock().set(before + number);
                        }
                    }
                    fn outcome(&self) -> u64 {
                        self.total.lock().get()
                    }
                    fn hold(&self) {
                        let _held = self.total.lock();
                        self.gate.keep();
                    }
                    fn wait(&self) {
                        drop(self.total.lock());
                    }
                }
            }
        }
    };
}

parking_programs!(parking_lot parking_lot);
parking_programs!(parking_lot_0_12 parking_lot_0_12);
