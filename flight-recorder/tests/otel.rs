//! The recorder's layer beside OpenTelemetry's and `fmt`'s: spans that are entered on virtual threads, which park and are
//! pinned inside them, are the same to all three.
//!
//! A program of its own, because its subscriber is the process's.

#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{SpanId, Value};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use parking_lot::Mutex;
use scene::{LIMIT, pins, within};
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::prelude::*;
use vt_flight_recorder::{FlightRecorder, Settings};
use vt_runtime::Runtime;
use vt_runtime::sync::Monitor;
use vt_runtime::thread;

/// What reaches a backend.
#[derive(Clone, Debug, Default)]
struct Exported(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Exported {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().extend(batch);
        Ok(())
    }
}

/// What `fmt` prints.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl io::Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Serves a request: parks in its span, so that others of its carrier come between, and is pinned in a span below.
fn serve(order: i64) {
    let request = tracing::info_span!("request", order);
    let _in_request = request.enter();
    thread::sleep(Duration::from_millis(2));
    let query = tracing::info_span!("query");
    query.in_scope(|| {
        let orders = Monitor::named("orders", ());
        let _held = orders.enter();
        thread::sleep(Duration::from_millis(1));
        tracing::warn!(order, "slow");
    });
    thread::sleep(Duration::from_millis(2));
}

const REQUESTS: i64 = 8;

#[test]
fn spans_of_virtual_threads_are_the_same_to_opentelemetry_fmt_and_the_recorder() {
    within(LIMIT, || {
        let runtime = Runtime::builder().carriers(1).max_carriers(1).build();
        let runtime = runtime.expect("a runtime of one carrier");
        let builder = FlightRecorder::builder().runtime(&runtime);
        let (layer, recorder) = builder
            .settings(Settings::test())
            .install()
            .expect("it starts");
        let (exported, printed) = (Exported::default(), Printed::default());
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(exported.clone())
            .build();
        let telemetry = tracing_opentelemetry::layer().with_tracer(provider.tracer("shop"));
        let writer = printed.clone();
        let fmt = tracing_subscriber::fmt::layer()
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .with_filter(EnvFilter::new("info"));
        let registry = tracing_subscriber::registry();
        registry.with(fmt).with(telemetry).with(layer).init();

        let threads: Vec<_> = (0..REQUESTS)
            .map(|order| runtime.spawn(move || serve(order)))
            .collect();
        for thread in threads {
            thread.join().expect("it does not panic");
        }

        // Each query lies in the request of its thread, whichever others ran on the carrier meanwhile.
        let spans = exported.0.lock();
        let mut orders: HashMap<SpanId, i64> = HashMap::new();
        for request in spans.iter().filter(|span| span.name == "request") {
            let order = request
                .attributes
                .iter()
                .find(|a| a.key.as_str() == "order");
            let Some(Value::I64(order)) = order.map(|order| order.value.clone()) else {
                panic!("a request without its order: {request:?}");
            };
            assert_eq!(request.parent_span_id, SpanId::INVALID);
            orders.insert(request.span_context.span_id(), order);
        }
        let queries = spans.iter().filter(|span| span.name == "query");
        let mut of_queries: Vec<_> = queries
            .map(|query| {
                let [slow] = &query.events.events[..] else {
                    panic!("one event in each query: {query:?}");
                };
                assert_eq!(slow.name, "slow");
                orders[&query.parent_span_id]
            })
            .collect();
        of_queries.sort_unstable();
        assert_eq!(of_queries, (0..REQUESTS).collect::<Vec<_>>());
        drop(spans);

        let bytes = recorder.dump_to(Vec::new(), None);
        let pins = pins(&bytes.expect("a vector takes every byte"));
        // Whatever else a busy machine makes the watchdog see.
        let declared = pins.iter().filter(|pin| pin.lock == "orders");
        let mut in_spans: Vec<_> = declared.map(|pin| pin.span_text.clone()).collect();
        in_spans.sort_unstable();
        let expected = (0..REQUESTS).map(|order| format!("request{{order={order}}}:query"));
        assert_eq!(in_spans, expected.collect::<Vec<_>>());

        let text = String::from_utf8_lossy(&printed.0.lock()).into_owned();
        for order in 0..REQUESTS {
            let line = format!("request{{order={order}}}:query: otel: slow order={order}");
            assert!(text.contains(&line), "{line}: {text}");
        }
    });
}
