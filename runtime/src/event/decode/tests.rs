//! What is emitted decodes to what was meant, for every event.

use tracing::dispatcher::with_default;

use super::super::capture::{Capture, one_of_each};
use super::super::service::emit::emit;
use super::*;

/// The start is reckoned from the clock at decoding, so it is not compared.
fn without_start(mut event: Event) -> Event {
    if let Event::VirtualThreadPinned(pinned) | Event::VirtualThreadPinnedLive(pinned) = &mut event
    {
        pinned.start = Timestamp(0);
    }
    event
}

#[test]
fn every_event_survives_emission() {
    let capture = Capture::with_traces();
    let sent = one_of_each();
    with_default(&capture.dispatch(), || sent.iter().for_each(emit));
    let received: Vec<Event> = capture.events().into_iter().map(without_start).collect();
    assert_eq!(
        received,
        sent.into_iter().map(without_start).collect::<Vec<_>>()
    );
}

#[test]
fn the_start_is_the_duration_ago() {
    let capture = Capture::default();
    let Some(Event::VirtualThreadPinned(mut pinned)) = one_of_each().into_iter().next() else {
        panic!("a pin comes first");
    };
    pinned.duration = Duration::from_secs(1);
    let before = clock::now();
    with_default(&capture.dispatch(), || {
        emit(&Event::VirtualThreadPinned(pinned))
    });
    let Some(Event::VirtualThreadPinned(received)) = capture.events().pop() else {
        panic!("a pin")
    };
    let end = received.start.plus(Duration::from_secs(1));
    assert!(before <= end && end <= clock::now());
}

#[test]
fn events_of_others_are_not_ours() {
    let capture = Capture::default();
    with_default(&capture.dispatch(), || {
        tracing::info!(thread.id = 1u64, "VirtualThreadPinned");
        tracing::event!(name: "VirtualThreadPinned", target: TARGET, tracing::Level::WARN, thread.id = 1u64);
        tracing::event!(name: "Unheard", target: TARGET, tracing::Level::WARN, thread.id = 1u64);
    });
    assert_eq!(capture.events(), []);
}
