//! What tests of the recorder start from: a runtime, a pin, a limit, and a look into what was written.

use std::io::Cursor;
use std::sync::mpsc;
use std::time::Duration;

use tracing_subscriber::prelude::*;
use vt_flight_recorder::{Event, FlightRecorder, Pin, Reader, Settings};
use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;

/// Runs `test` on a thread of its own and fails when it does not end.
pub(crate) fn within(limit: Duration, test: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    let thread = std::thread::Builder::new()
        .name("test".to_owned())
        .spawn(move || {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
            let _ = done.send(());
            outcome
        });
    let thread = thread.expect("a thread can be started");
    ended.recv_timeout(limit).expect("the test ended in time");
    if let Ok(Err(panic)) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

pub(crate) const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn runtime() -> Runtime {
    Runtime::builder()
        .carriers(2)
        .build()
        .expect("a runtime of two carriers")
}

/// Holds a monitor over a wait: one pin.
pub(crate) fn pin(runtime: &Runtime) {
    runtime.run(|| {
        let orders = Monitor::named("orders", ());
        let _held = orders.enter();
        vt_runtime::thread::sleep(Duration::from_millis(3));
    });
}

/// A recording of a running program: its spans and events, a pin that ended, one that has not, threads with names and
/// without.
pub(crate) fn recording() -> Vec<u8> {
    let runtime = runtime();
    let builder = FlightRecorder::builder()
        .runtime(&runtime)
        .settings(Settings::test());
    let (layer, recorder) = builder.install().expect("it starts");
    let dispatch = tracing::Dispatch::new(tracing_subscriber::registry().with(layer));
    tracing::dispatcher::with_default(&dispatch, || {
        // With a span that is open when the recording is written.
        let _request = tracing::info_span!("request", path = "/orders").entered();
        tracing::warn!("slow");
        pin(&runtime);
        let (tell, told) = mpsc::channel();
        let open = move || {
            let monitor = Monitor::named("open", ());
            let _held = monitor.enter();
            tell.send(()).expect("the test waits");
            vt_runtime::thread::park();
        };
        let named = vt_runtime::thread::Builder::new().name("holder".to_owned());
        let open = named.spawn_in(&runtime, open).expect("it starts");
        told.recv().expect("it runs");
        while runtime.open_pins().is_empty() {
            std::thread::yield_now();
        }
        let bytes = recorder
            .dump_to(Vec::new(), None)
            .expect("a vector takes every byte");
        open.thread().unpark();
        open.join().expect("it does not panic");
        bytes
    })
}

pub(crate) fn pins(bytes: &[u8]) -> Vec<Pin> {
    let mut pins = Vec::new();
    let mut reader = Reader::new(Cursor::new(bytes)).expect("a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        chunk
            .each(|event| pins.extend(Pin::of(event)))
            .expect("readable");
    }
    assert!(reader.damages().is_empty(), "{:?}", reader.damages());
    pins
}

pub(crate) fn each(bytes: &[u8], mut visit: impl FnMut(&Event<'_>)) {
    let mut reader = Reader::new(Cursor::new(bytes)).expect("a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        chunk.each(&mut visit).expect("readable");
    }
    assert!(reader.damages().is_empty(), "{:?}", reader.damages());
}

pub(crate) fn events(bytes: &[u8], name: &str) -> u64 {
    let mut count = 0;
    let mut reader = Reader::new(Cursor::new(bytes)).expect("a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        chunk
            .each(|event| count += u64::from(event.name() == name))
            .expect("readable");
    }
    count
}
