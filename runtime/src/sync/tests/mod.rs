//! The primitives through their public API, on virtual and on plain OS threads, with both backends.
//!
//! Order comes from what the runtime says of its threads ([`until`]), never from sleeping. A hang ends the
//! process ([`Deadline`]).

mod as_parking_lot;
mod as_std;
mod cells;
mod channels;
mod fairness;
mod interrupts;
mod locks;
mod meetings;
mod mixed;
mod monitors;
mod select;
mod shapes;
mod stress;
mod wake_rule;

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use parking_lot::Mutex as Leaf;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Metadata, Subscriber};

use crate::event::{Event, Pinned, decode};
use crate::thread::{Builder, JoinHandle, ThreadState, VirtualThread};
use crate::{DeadlockPolicy, Runtime, Stacks};

/// The unit of time of tests that must let time pass.
const T: Duration = Duration::from_millis(100);

/// Ends the process if it lives too long.
struct Deadline {
    _alive: Sender<()>,
}

impl Deadline {
    fn of(seconds: u64, test: &'static str) -> Self {
        let (alive, gone) = channel();
        let watch = move || {
            if gone.recv_timeout(Duration::from_secs(seconds)) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{test} has not ended after {seconds} s");
                std::process::abort();
            }
        };
        std::thread::Builder::new()
            .name("deadline".into())
            .spawn(watch)
            .expect("one thread more");
        Self { _alive: alive }
    }
}

/// A runtime and the events it emitted.
struct Stage {
    runtime: Runtime,
    seen: Seen,
    _deadline: Deadline,
}

#[derive(Clone, Default)]
struct Seen(Arc<Leaf<Vec<Event>>>);

impl Subscriber for Seen {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() != tracing::Level::TRACE
    }

    fn event(&self, event: &tracing::Event<'_>) {
        self.0.lock().extend(decode(event));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Stage {
    fn new(stacks: Stacks, carriers: usize) -> Self {
        Self::with_policy(stacks, carriers, DeadlockPolicy::Report)
    }

    fn with_policy(stacks: Stacks, carriers: usize, policy: DeadlockPolicy) -> Self {
        let seen = Seen::default();
        let runtime = Runtime::builder()
            .stacks(stacks)
            .carriers(carriers)
            .max_carriers(carriers)
            .deadlock_policy(policy)
            .pin_threshold(Duration::ZERO)
            .dispatch(Dispatch::new(seen.clone()))
            .build()
            .expect("a runtime");
        Self {
            runtime,
            seen,
            _deadline: Deadline::of(60, "a test of the locks"),
        }
    }

    /// Runs `test` once for each backend.
    fn on_both(carriers: usize, test: impl Fn(&Self)) {
        for stacks in [Stacks::Dense, Stacks::Generator] {
            test(&Self::new(stacks, carriers));
        }
    }

    fn spawn_on<T: Send + 'static>(
        &self,
        carrier: usize,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        Builder::new()
            .carrier(carrier)
            .spawn_in(&self.runtime, f)
            .expect("a thread")
    }

    /// Waits until that thread is in that state.
    fn until(&self, thread: &VirtualThread, state: ThreadState) {
        until(|| {
            self.runtime
                .threads()
                .iter()
                .any(|info| info.id == thread.id() && info.state == state)
        });
    }

    /// The pinned waits so far.
    fn pins(&self) -> Vec<Pinned> {
        self.runtime.flush_events();
        let events = self.seen.0.lock().clone();
        events
            .into_iter()
            .filter_map(|event| match event {
                Event::VirtualThreadPinned(pinned) => Some(pinned),
                _ => None,
            })
            .collect()
    }
}

/// Looks until it is so.
fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        crate::thread::yield_now();
        std::thread::yield_now();
    }
}

/// A plain OS thread.
fn os_thread<T: Send + 'static>(
    f: impl FnOnce() -> T + Send + 'static,
) -> std::thread::JoinHandle<T> {
    std::thread::Builder::new().spawn(f).expect("an OS thread")
}

/// Joins all and returns what they returned.
fn all<T>(handles: impl IntoIterator<Item = JoinHandle<T>>) -> Vec<T> {
    handles
        .into_iter()
        .map(|handle| handle.join().expect("no panic"))
        .collect()
}
