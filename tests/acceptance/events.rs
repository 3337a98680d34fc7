//! Events reach their subscriber without touching the program: nothing hangs, nothing is lost uncounted.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Metadata, Subscriber};
use vt_runtime::event::{self, Event, EventClass, PinSource};
use vt_runtime::sync::{Monitor, ReentrantLock};
use vt_runtime::{Runtime, Stacks, pinned, thread};
use vt_tests::{BACKENDS, Capture, Deadline, Gate, T};

/// Acts on each event of the runtime first, then collects it.
struct Meddler<F> {
    act: F,
    capture: Capture,
}

impl<F: Fn(&Event) + Send + Sync + 'static> Subscriber for Meddler<F> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.capture.enabled(metadata)
    }

    fn event(&self, event: &tracing::Event<'_>) {
        if let Some(decoded) = event::decode(event) {
            (self.act)(&decoded);
        }
        self.capture.event(event);
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        self.capture.new_span(attributes)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// A runtime with a tiny ring, whose subscriber does `act` at each event.
fn meddled_with(
    stacks: Stacks,
    carriers: usize,
    act: impl Fn(&Event) + Send + Sync + 'static,
) -> (Runtime, Capture) {
    let capture = Capture::new();
    let subscriber = Meddler {
        act,
        capture: capture.clone(),
    };
    let runtime = Runtime::builder()
        .stacks(stacks)
        .carriers(carriers)
        .max_carriers(carriers)
        .event_capacity(16)
        .pin_threshold(Duration::ZERO)
        .dispatch(Dispatch::new(subscriber))
        .build();
    (runtime.expect("carriers start"), capture)
}

/// Waits while pinned that were received, and pins reported as dropped. On a busy machine the watchdog may see a lock of the
/// C library or of std being waited for as well; that is no wait of ours.
fn count(events: &[Event]) -> (u64, u64) {
    events
        .iter()
        .fold((0, 0), |(seen, dropped), event| match event {
            Event::VirtualThreadPinned(pin) if pin.source == PinSource::Wait => (seen + 1, dropped),
            Event::EventsDropped {
                class: EventClass::Pins,
                count,
            } => (seen, dropped + count),
            _ => (seen, dropped),
        })
}

#[test]
fn oc_13_the_detector_cannot_hang_the_program() {
    const SLEEPERS: u64 = 32;
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let lock = Arc::new(ReentrantLock::named("G", ()));
        let wanted = Arc::clone(&lock);
        let (runtime, capture) = meddled_with(stacks, 2, move |event| {
            let guard = wanted.lock();
            // Standard output itself, which the test harness does not capture.
            let _ = writeln!(std::io::stdout(), "{}", event.name());
            drop(guard);
        });

        let start = Instant::now();
        let held = Arc::clone(&lock);
        let holder = runtime.spawn(move || {
            let guard = held.lock();
            thread::sleep(T);
            drop(guard);
        });
        let sleepers: Vec<_> = (0..SLEEPERS)
            .map(|number| {
                let lock = Arc::clone(&lock);
                runtime.spawn(move || {
                    let own = (number % 4 == 1).then(|| lock.lock());
                    let monitor = Monitor::new(());
                    let guard = monitor.enter();
                    let out = (number % 4 == 2).then(|| std::io::stdout().lock());
                    thread::sleep(T / 10);
                    drop((out, guard, own));
                })
            })
            .collect();
        sleepers
            .into_iter()
            .for_each(|sleeper| sleeper.join().expect("no panic"));
        holder.join().expect("no panic");
        assert!(start.elapsed() < 12 * T, "the subscriber slows the program");

        let events = capture.events(&runtime);
        let (seen, dropped) = count(&events);
        assert_eq!(seen + dropped, SLEEPERS, "{events:?}");
        for event in &events {
            if let Event::VirtualThreadPinned(pinned) = event
                && pinned.source == PinSource::Wait
            {
                assert_eq!(pinned.operation, event::Operation::Sleep, "{event:?}");
            }
        }
    }
}

#[test]
fn a_subscriber_that_panics_leaves_the_program_running() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let calls = AtomicUsize::new(0);
        let (runtime, capture) = meddled_with(stacks, 2, move |event| {
            if matches!(event, Event::VirtualThreadPinned(_)) {
                assert_ne!(calls.fetch_add(1, Ordering::SeqCst), 2, "the third pin");
            }
        });
        runtime.run(|| {
            for _ in 0..5 {
                pinned::critical("nap", || thread::sleep(T / 100));
            }
        });
        let (seen, dropped) = count(&capture.events(&runtime));
        assert_eq!((seen, dropped), (4, 0));
        assert_eq!(runtime.metrics().events.subscriber_panics, 1);
    }
}

#[test]
fn a_subscriber_that_logs_and_pins_itself_is_not_told_of_itself() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = meddled_with(stacks, 2, |_| {
            tracing::warn!(target: "vt_runtime", "about an event");
            // On a plain OS thread this pins nobody.
            let monitor = Monitor::new(());
            let guard = monitor.enter();
            thread::sleep(T / 100);
            drop(guard);
        });
        runtime.run(|| pinned::critical("nap", || thread::sleep(T / 100)));
        // Twice: what the first event caused would come with the second flush.
        assert_eq!(count(&capture.events(&runtime)), (1, 0));
        assert_eq!(count(&capture.events(&runtime)), (1, 0));
    }
}

#[test]
fn a_tiny_ring_under_a_hundred_thousand_pins_accounts_for_each() {
    const PINS: u64 = 100_000;
    let _deadline = Deadline::standard();
    let (runtime, capture) = meddled_with(BACKENDS[0], 2, |_| ());
    let pinners: Vec<_> = (0..4)
        .map(|_| {
            runtime.spawn(|| {
                for _ in 0..PINS / 4 {
                    pinned::critical("moment", || thread::sleep(Duration::from_nanos(1)));
                }
            })
        })
        .collect();
    pinners
        .into_iter()
        .for_each(|pinner| pinner.join().expect("no panic"));
    let (seen, dropped) = count(&capture.events(&runtime));
    assert_eq!(seen + dropped, PINS);
    assert!(seen > 0);
}

#[test]
fn a_flush_from_a_virtual_thread_lets_its_neighbours_run() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let lock = Arc::new(ReentrantLock::new(()));
        let wanted = Arc::clone(&lock);
        let (runtime, _) = meddled_with(stacks, 1, move |event| {
            if matches!(event, Event::VirtualThreadPinned(_)) {
                drop(wanted.lock());
            }
        });
        let handle = runtime.clone();
        let flushed = runtime.run(move || {
            // The neighbour holds what the subscriber wants, and needs this carrier to give it back.
            let (taken, give) = (Gate::new(), Gate::new());
            let (told, go) = (taken.clone(), give.clone());
            let neighbour = thread::spawn(move || {
                let guard = lock.lock();
                told.open();
                go.pass();
                drop(guard);
            });
            taken.pass();
            pinned::critical("nap", || thread::sleep(T / 100));
            give.open();
            let flushed = handle.flush_events();
            neighbour.join().expect("no panic");
            flushed
        });
        assert!(flushed, "the flush kept the carrier");
    }
}
