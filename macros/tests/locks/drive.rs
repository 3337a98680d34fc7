//! Runs a program on either kind of thread, and looks for pins.
//!
//! No order comes from sleeping: a holder keeps its lock until the gate is opened, and the gate is opened by what
//! the test waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use vt_runtime::event::Event;
use vt_runtime::{Runtime, thread};

pub(crate) const THREADS: u64 = 4;
/// A wait that never ends is a failure, not a hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program around one type of lock.
pub(crate) trait Driven: Send + Sync + 'static {
    fn new(gate: Arc<Gate>) -> Self;
    /// One thread's share of the stress; `pause` is called while locks are held.
    fn work(&self, seed: u64, pause: fn());
    /// What all shares together must have led to, in whatever order they ran.
    fn outcome(&self) -> u64;
    /// Keeps others waiting until the gate is open.
    fn hold(&self);
    /// Waits for whoever holds.
    fn wait(&self);
}

/// Tells that something is held, and how long to hold it.
#[derive(Default)]
pub(crate) struct Gate {
    held: AtomicBool,
    open: AtomicBool,
}

impl Gate {
    /// Called while holding.
    pub(crate) fn keep(&self) {
        self.held.store(true, Ordering::Release);
        until(|| self.open.load(Ordering::Acquire));
    }

    fn open(&self) {
        self.open.store(true, Ordering::Release);
    }
}

/// The next number of a seeded series.
pub(crate) fn next(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

pub(crate) fn os_threads<P: Driven>() -> u64 {
    let program = P::new(Arc::default());
    std::thread::scope(|scope| {
        for seed in 0..THREADS {
            let program = &program;
            scope.spawn(move || program.work(seed, yield_now));
        }
    });
    program.outcome()
}

pub(crate) fn virtual_threads<P: Driven>() -> u64 {
    let runtime = runtime(2);
    let mut reader = runtime.event_reader();
    let program = P::new(Arc::default());
    runtime.run(|| {
        thread::scope(|scope| {
            for seed in 0..THREADS {
                let program = &program;
                scope.spawn(move || program.work(seed, thread::yield_now));
            }
        });
    });
    assert_eq!(pins(&mut reader), 0, "no wait kept its carrier");
    program.outcome()
}

/// An OS thread holds, a virtual one waits: its carrier blocks, which is seen while it lasts.
pub(crate) fn wait_that_pins<P: Driven>() {
    let runtime = runtime(1);
    let mut reader = runtime.event_reader();
    held::<P>(|program, gate| {
        let waiter = runtime.spawn(move || program.wait());
        let seen = until(|| pins(&mut reader) > 0);
        gate.open();
        waiter.join().expect("the wait ends");
        assert!(seen, "the wait keeps its carrier");
    });
}

/// The same, and another virtual thread of the same carrier lets the holder go on.
pub(crate) fn wait_that_parks<P: Driven>() {
    let runtime = runtime(1);
    let mut reader = runtime.event_reader();
    held::<P>(|program, gate| {
        let waiter = runtime.spawn(move || program.wait());
        let other = runtime.spawn({
            let gate = Arc::clone(&gate);
            move || gate.open()
        });
        let ran = until(|| other.is_finished());
        gate.open();
        waiter.join().expect("the wait ends");
        assert!(ran, "the wait gives its carrier away");
    });
    assert_eq!(pins(&mut reader), 0, "no wait kept its carrier");
}

/// Runs `test` while an OS thread holds.
fn held<P: Driven>(test: impl FnOnce(Arc<P>, Arc<Gate>)) {
    let gate = Arc::<Gate>::default();
    let program = Arc::new(P::new(Arc::clone(&gate)));
    std::thread::scope(|scope| {
        let holder = Arc::clone(&program);
        scope.spawn(move || holder.hold());
        assert!(
            until(|| gate.held.load(Ordering::Acquire)),
            "the holder holds"
        );
        test(program, gate);
    });
}

fn runtime(carriers: usize) -> Runtime {
    let builder = Runtime::builder()
        .carriers(carriers)
        .pin_threshold(Duration::ZERO);
    builder.build().expect("a runtime")
}

fn pins(reader: &mut vt_runtime::event::Reader) -> usize {
    let mut pins = 0;
    reader.drain(|recorded| {
        pins += usize::from(matches!(
            recorded.event,
            Event::VirtualThreadPinned(_) | Event::VirtualThreadPinnedLive(_)
        ));
    });
    pins
}

fn until(mut reached: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while !reached() {
        if started.elapsed() > PATIENCE {
            return false;
        }
        yield_now();
    }
    true
}
