//! Which waits of a closure kept their carriers: the runtime of its own that tells, and the report.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use crate::Runtime;
use crate::event::{Event, EventClass, Pinned};
use crate::expansion::report;

/// How long threads that outlive the closure may take to end, so that their pins count.
const STRAGGLERS: Duration = Duration::from_secs(1);

/// What [`watch`] saw: every wait that kept its carrier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PinReport {
    pins: Vec<Pinned>,
    lost: u64,
}

impl PinReport {
    /// The pinned waits, those of one carrier in their order.
    #[must_use]
    pub fn pins(&self) -> &[Pinned] {
        &self.pins
    }

    /// How many waits kept their carriers, the [`lost`](Self::lost) ones included.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.pins.len() as u64 + self.lost
    }

    /// Did no wait keep its carrier?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// How many were too many to be kept: of those only the number is known.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How long carriers were kept, in sum.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.pins.iter().map(|pin| pin.duration).sum()
    }

    /// The longest of the waits; zero if there was none.
    #[must_use]
    pub fn longest(&self) -> Duration {
        let longest = self.pins.iter().map(|pin| pin.duration).max();
        longest.unwrap_or_default()
    }
}

/// What held each carrier, where the wait was, how long, and the cure.
impl fmt::Display for PinReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count() {
            0 => f.write_str("no wait kept its carrier")?,
            1 => f.write_str("1 wait kept its carrier")?,
            more => write!(f, "{more} waits kept their carriers")?,
        }
        report::list(f, &self.pins.iter().collect::<Vec<_>>())
    }
}

/// Runs `f` as a virtual thread of a runtime of its own and tells which waits kept their carriers: with no threshold,
/// those of threads that it spawned included, and blocking calls that nobody declared from 20 ms on.
///
/// ```
/// use std::time::Duration;
/// use vt_runtime::{pinned, sync::Monitor, thread};
///
/// let (answer, report) = pinned::watch(|| {
///     let cart = Monitor::named("cart", 6);
///     let held = cart.enter();
///     thread::sleep(Duration::from_millis(2));
///     *held * 7
/// });
/// assert_eq!(answer, 42);
/// assert_eq!(report.pins().len(), 1);
/// assert_eq!(report.pins()[0].lock.as_deref(), Some("cart"));
/// ```
///
/// Threads that outlive `f` get a second to end; those that wait longer are cancelled.
///
/// # Pinning
///
/// From a virtual thread it unmounts while it waits. Waits of the calling thread's own runtime are not reported.
///
/// # Panics
///
/// With the panic of `f`, or if the runtime could not be started.
#[track_caller]
pub fn watch<F, T>(f: F) -> (T, PinReport)
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    let runtime = match Runtime::builder().pin_threshold(Duration::ZERO).build() {
        Ok(runtime) => runtime,
        Err(error) => panic!("the runtime to watch with could not be started: {error}"),
    };
    let (outcome, report) = run(&runtime, f);
    match outcome {
        Ok(value) => (value, report),
        Err(payload) => resume_unwind(payload),
    }
}

/// Runs `f` on `runtime`, ends the runtime and tells what its readers can see.
pub(crate) fn run<F, T>(
    runtime: &Runtime,
    f: F,
) -> (Result<T, Box<dyn Any + Send + 'static>>, PinReport)
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    let mut reader = runtime.event_reader();
    // The closure is gone when its panic arrives here, and nothing of it is looked at.
    let outcome = catch_unwind(AssertUnwindSafe(|| runtime.run(f)));
    if outcome.is_ok() {
        runtime.shutdown(STRAGGLERS);
        runtime.flush_events();
    }
    let mut pins = Vec::new();
    reader.drain(|recorded| {
        if let Event::VirtualThreadPinned(pin) = recorded.event {
            pins.push(pin);
        }
    });
    let lost = reader.lost_in(EventClass::Pins);
    (outcome, PinReport { pins, lost })
}
