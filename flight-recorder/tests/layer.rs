//! The recorder's layer among others: a filter of its own, beside `fmt` behind an `EnvFilter`, each seeing what it is
//! meant to see.

#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use scene::{LIMIT, each, pin, runtime, within};
use tracing_subscriber::filter::{EnvFilter, FilterFn, LevelFilter};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::prelude::*;
use vt_flight_recorder::{FlightRecorder, RecorderLayer, Settings};
use vt_runtime::Runtime;

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

impl<'a> MakeWriter<'a> for Printed {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

fn recorder(runtime: &Runtime) -> (RecorderLayer, FlightRecorder) {
    let builder = FlightRecorder::builder()
        .runtime(runtime)
        .settings(Settings::test());
    builder.install().expect("it starts")
}

/// Names of spans and messages of events in a dump, sorted.
fn recorded(recorder: &FlightRecorder) -> Vec<String> {
    let bytes = recorder.dump_to(Vec::new(), None);
    let mut told = Vec::new();
    each(&bytes.expect("a vector takes every byte"), |event| {
        let field = match event.name() {
            "vt.Span" => "name",
            "vt.Event" => "message",
            _ => return,
        };
        told.extend(event.text(field));
    });
    told.sort();
    told
}

/// A program that logs at three levels, in two spans.
fn program() {
    let _request = tracing::info_span!("request").entered();
    tracing::warn!("slow");
    tracing::info!("served");
    let _query = tracing::debug_span!("query").entered();
    tracing::debug!("asked");
}

#[test]
fn each_layer_sees_what_its_own_filter_lets_through() {
    within(LIMIT, || {
        let runtime = runtime();
        let (layer, recorder) = recorder(&runtime);
        let printed = Printed::default();
        let fmt = tracing_subscriber::fmt::layer()
            .with_writer(printed.clone())
            .with_ansi(false)
            .with_filter(EnvFilter::new("debug"));
        let registry = tracing_subscriber::registry()
            .with(layer.with_filter(LevelFilter::INFO))
            .with(fmt);
        tracing::dispatcher::with_default(&registry.into(), program);
        assert_eq!(recorded(&recorder), ["request", "served", "slow"]);
        let text = String::from_utf8_lossy(&printed.0.lock()).into_owned();
        for line in ["slow", "served", "asked"] {
            assert!(text.contains(line), "{text}");
        }
    });
}

#[test]
fn an_env_filter_over_all_rules_the_recorder_too_and_no_pin() {
    within(LIMIT, || {
        let runtime = runtime();
        let (layer, recorder) = recorder(&runtime);
        let registry = tracing_subscriber::registry()
            .with(EnvFilter::new("warn"))
            .with(layer);
        tracing::dispatcher::with_default(&registry.into(), || {
            program();
            pin(&runtime);
        });
        // The span is not there for anybody; what the runtime tells does not come through `tracing`.
        assert_eq!(recorded(&recorder), ["slow"]);
        let bytes = recorder.dump_to(Vec::new(), None);
        assert_eq!(
            scene::pins(&bytes.expect("a vector takes every byte")).len(),
            1
        );
    });
}

#[test]
fn settings_and_a_filter_by_name_both_narrow() {
    within(LIMIT, || {
        let runtime = runtime();
        let (layer, recorder) = recorder(&runtime);
        let by_name = FilterFn::new(|metadata| metadata.name() != "query");
        let registry = tracing_subscriber::registry().with(layer.with_filter(by_name));
        let dispatch = registry.into();
        tracing::dispatcher::with_default(&dispatch, program);
        assert_eq!(recorded(&recorder), ["asked", "request", "served", "slow"]);
        let mut quiet = Settings::test();
        quiet.program = Some(tracing::Level::WARN);
        recorder.set(quiet);
        tracing::dispatcher::with_default(&dispatch, program);
        let expected = ["asked", "request", "served", "slow", "slow"];
        assert_eq!(recorded(&recorder), expected);
    });
}
