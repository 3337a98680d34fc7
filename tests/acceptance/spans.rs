//! `tracing` spans stay with their virtual thread, whoever runs on its carrier meanwhile (OC-14).

use std::sync::{Arc, Mutex};

use tracing::{Dispatch, Event, Subscriber, info, info_span};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};
use vt_runtime::sync::{Monitor, ReentrantLock};
use vt_runtime::{Runtime, event, thread};
use vt_tests::{BACKENDS, Deadline, T};

/// Notes for each event of the test and each pin in which span it was recorded, and the pin's own word for it.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<Note>>>);

/// What was noted, and the span it was in.
type Note = (String, Option<String>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Notes {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        if metadata.target() == event::TARGET {
            if let Some(event::Event::VirtualThreadPinned(pin)) = event::decode(event) {
                let id = pin.span.map(tracing::span::Id::from_u64);
                let name = id.and_then(|id| Some(context.span(&id)?.name().to_owned()));
                self.note("pin", name);
            }
        } else if metadata.target() == "spans" {
            let span = context.event_span(event).map(|span| span.name().to_owned());
            let mut message = String::new();
            event.record(
                &mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
                    if field.name() == "message" {
                        message = format!("{value:?}");
                    }
                },
            );
            self.note(&message, span);
        }
    }
}

impl Notes {
    fn note(&self, what: &str, span: Option<String>) {
        self.0
            .lock()
            .expect("no panic")
            .push((what.to_owned(), span));
    }

    fn spans_of(&self, what: &str) -> Vec<Option<String>> {
        let notes = self.0.lock().expect("no panic");
        notes
            .iter()
            .filter(|(noted, _)| noted == what)
            .map(|(_, span)| span.clone())
            .collect()
    }
}

#[test]
fn oc_14_the_span_context_stays_with_its_thread() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let notes = Notes::default();
        let dispatch = Dispatch::new(Registry::default().with(notes.clone()));
        let runtime = Runtime::builder()
            .stacks(stacks)
            .carriers(1)
            .pin_threshold(std::time::Duration::ZERO)
            .dispatch(dispatch)
            .build()
            .expect("a carrier starts");
        for _ in 0..100 {
            let lock = Arc::new(ReentrantLock::new(()));
            let theirs = Arc::clone(&lock);
            let a = runtime.spawn(move || {
                let outer = info_span!("outer").entered();
                let inner = info_span!("a").entered();
                thread::yield_now();
                info!(target: "spans", "a2");
                drop(theirs.lock());
                info!(target: "spans", "a2");
                drop(inner);
                info!(target: "spans", "a3");
                drop(outer);
                info!(target: "spans", "a4");
            });
            let b = runtime.spawn(move || {
                let _held = lock.lock();
                info!(target: "spans", "b1");
                thread::yield_now();
            });
            a.join().expect("no panic");
            b.join().expect("no panic");
        }
        let pinned = runtime.spawn(|| {
            let span = info_span!("a");
            let _entered = span.clone().entered();
            let monitor = Monitor::new(());
            let _pin = monitor.enter();
            thread::sleep(T / 50);
            span
        });
        // A subscriber knows the name of a span for as long as the span is open.
        let _open = pinned.join().expect("no panic");
        assert!(runtime.flush_events());
        let all = |what: &str, count: usize, span: Option<&str>| {
            assert_eq!(
                notes.spans_of(what),
                vec![span.map(str::to_owned); count],
                "{what}"
            );
        };
        all("a2", 200, Some("a"));
        all("a3", 100, Some("outer"));
        all("a4", 100, None);
        all("b1", 100, None);
        all("pin", 1, Some("a"));
    }
}
