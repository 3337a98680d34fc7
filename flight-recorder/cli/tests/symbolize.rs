//! `vt-flight symbolize` over a recording of this test's own process, dumped without names.

use std::process::{Command, Output};
use std::time::Duration;

use vt_flight_recorder::{FlightRecorder, Settings, build_id_of};
use vt_runtime::sync::Monitor;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vt-flight"));
    command.args(arguments).env_remove("CLICOLOR_FORCE");
    command.output().expect("the built binary can be run")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
    text(&output.stdout)
}

#[test]
fn a_recording_made_without_names_gets_them_later() {
    let runtime = vt_runtime::Runtime::builder().carriers(1).build();
    let runtime = runtime.expect("a runtime");
    let builder = FlightRecorder::builder()
        .runtime(&runtime)
        .settings(Settings::test());
    let (_layer, recorder) = builder.symbolize(false).install().expect("it starts");
    runtime.run(|| {
        let orders = Monitor::named("orders", ());
        let _held = orders.enter();
        vt_runtime::thread::sleep(Duration::from_millis(1));
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("bare.jfr");
    let path = file.to_str().expect("temporary paths are text");
    recorder.dump(&file).expect("it is written");
    let bare = printed(&["summary", path]);
    let print = [
        "print",
        "--events",
        "VirtualThreadPinned",
        "--stack-depth",
        "64",
        path,
    ];
    assert!(printed(&print).contains("unknown::0x"));

    assert!(printed(&["view", "holders", path]).contains("Pins Ever"));
    assert!(printed(&["view", "pinned-sites", path]).contains("Total Ever"));
    // Another build's names would be lies.
    let own = std::env::current_exe().expect("the test's own path");
    let id = build_id_of(&own).expect("an ELF file");
    assert!(!id.is_empty(), "the test was linked without a build id");
    let mut bytes = std::fs::read(&file).expect("it was written");
    let at = bytes
        .windows(id.len())
        .position(|part| part == id.as_bytes());
    let at = at.expect("the recording tells the build id");
    bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
    let other = folder.path().join("other.jfr");
    std::fs::write(&other, &bytes).expect("it can be written");
    let refused = run(&["symbolize", other.to_str().expect("a text")]);
    assert!(
        text(&refused.stderr).contains("is another build"),
        "{}",
        text(&refused.stderr)
    );
    assert_eq!(std::fs::read(&other).expect("it is there"), bytes);

    printed(&["symbolize", "--dry-run", path]);
    assert!(printed(&print).contains("unknown::0x"));
    printed(&["symbolize", path]);
    let named = printed(&print);
    assert!(named.contains("symbolize::{closure#0}  line"), "{named}");
    assert!(!named.contains("unknown::0x"), "{named}");
    // The sizes of events are the same too: only constants have changed.
    assert_eq!(printed(&["summary", path]), bare);
    if let Ok(jfr) = Command::new("jfr")
        .args(["print", "--stack-depth", "64", path])
        .output()
    {
        assert!(
            text(&jfr.stdout).contains("symbolize.{closure#0}()"),
            "{}",
            text(&jfr.stderr)
        );
    } else {
        println!("skipped: the JDK's `jfr` cannot be run here");
    }
}
