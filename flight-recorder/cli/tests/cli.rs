//! The command line over the golden recordings: what each verb prints, and its exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const OURS: &str = "schema-1.jfr";

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden")
}

/// Runs `vt-flight` in the golden folder.
fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vt-flight"))
        .args(arguments)
        .current_dir(golden())
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("the built binary can be run")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a verb prints when it succeeds.
#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    assert_eq!(text(&output.stderr), "", "{arguments:?}");
    text(&output.stdout)
}

/// Each snapshot shows some commands, one under the other, each with what it prints.
#[track_caller]
fn show(name: &str, commands: &[&[&str]]) {
    let shown = commands.iter().map(|command| {
        let arguments = [*command, &[OURS]].concat();
        format!(
            "$ vt-flight {}\n{}",
            arguments.join(" "),
            printed(&arguments)
        )
    });
    insta::assert_snapshot!(name, shown.collect::<Vec<_>>().join("\n"));
}

#[test]
fn summary_counts_types() {
    show("summary", &[&["summary"], &["summary", "--json"]]);
}

#[test]
fn print_shows_every_field() {
    show(
        "print",
        &[
            &[
                "print",
                "--events",
                "VirtualThreadPinned",
                "--stack-depth",
                "10",
            ],
            &["print", "--json", "--events", "vt.*"],
        ],
    );
}

#[test]
fn metadata_declares_types() {
    show(
        "metadata",
        &[&[
            "metadata",
            "--events",
            "jdk.VirtualThreadPinned,vt.NativeCall",
        ]],
    );
}

#[test]
fn views_of_pins_rank_by_harm() {
    show(
        "views_of_pins",
        &[
            &["view", "pinned-threads"],
            &["view", "pinned-sites"],
            &["view", "pinned-sites", "--json", "--top", "1"],
            &["view", "pinned-now"],
            &["view", "holders"],
            &["view", "native-calls"],
            &["view", "carriers"],
        ],
    );
}

#[test]
fn views_of_the_rest_answer_their_question() {
    let views = [
        "contention",
        "parks",
        "lifetimes",
        "deadlocks",
        "losses",
        "recording",
    ];
    show(
        "views_of_the_rest",
        &views.map(|view| ["view", view]).each_ref().map(|c| &c[..]),
    );
}

#[test]
fn exports_as_text_hold_every_pin() {
    show(
        "exports",
        &[
            &["export", "--to", "csv"],
            &["export", "--to", "collapsed"],
            &["export", "--to", "collapsed", "--weight", "stranded"],
            &["export", "--to", "flamegraph"],
        ],
    );
}

#[test]
fn a_jvm_s_recording_is_read_as_well() {
    let summary = printed(&["summary", "jvm25.jfr"]);
    assert!(summary.contains("jdk.VirtualThreadPinned"), "{summary}");
    let shown = ["jvm21.jfr", "jvm25.jfr"].map(|file| {
        let print = ["print", "--events", "VirtualThreadPinned", file];
        let view = ["view", "pinned-threads", file];
        format!("{file}\n{}\n{}", printed(&view), printed(&print))
    });
    insta::assert_snapshot!("jvm", shown.join("\n"));
}

#[test]
fn a_recording_is_no_worse_than_itself() {
    show("diff", &[&["diff", "--gate", OURS]]);
}

#[test]
fn the_trace_for_chrome_is_json_with_every_pin_on_both_tracks() {
    let trace: serde_json::Value =
        serde_json::from_str(&printed(&["export", "--to", "chrome", OURS])).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    let pins = |pid: u32| {
        let of = |e: &&serde_json::Value| {
            e["pid"] == pid
                && e["name"]
                    .as_str()
                    .is_some_and(|name| name.starts_with("pinned"))
        };
        events.iter().filter(of).count()
    };
    assert_eq!((pins(1), pins(2)), (5, 5));
}

#[test]
fn the_exported_profile_holds_every_name() {
    let output = run(&["export", "--to", "pprof", OURS]);
    assert_eq!(output.status.code(), Some(0));
    let profile = text(&output.stdout);
    for name in ["shop::payment::charge", "pinned", "nanoseconds", "stranded"] {
        assert!(profile.contains(name), "{name} is not in the profile");
    }
}

#[test]
fn a_gate_fails_with_one_and_says_why() {
    let output = run(&["check", "--max-pinned", "0", OURS]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!("check", text(&output.stdout));
    assert_eq!(
        run(&["check", "--max-pinned", "5", OURS]).status.code(),
        Some(0)
    );
    // Three of the four that ended are long, and the one that did not is longer.
    let long = ["check", "--longer-than", "30ms", "--max-pinned"];
    assert_eq!(
        run(&[&long[..], &["3", OURS]].concat()).status.code(),
        Some(1)
    );
    assert_eq!(
        run(&[&long[..], &["4", OURS]].concat()).status.code(),
        Some(0)
    );
}

#[test]
fn allowed_sites_pass_until_they_expire() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("sites.toml");
    let path = file.to_str().expect("temporary paths are text");
    let check = |expires: &str| {
        let site = |place: &str| {
            format!("[[site]]\n{place}\nowner = \"payments\"\nexpires = \"{expires}\"\n")
        };
        let sites = [site("holder = \"orders\""), site("holder = \"nanosleep\"")].concat();
        std::fs::write(&file, sites).expect("it can be written");
        run(&["check", "--max-pinned", "0", "--allow", path, OURS])
    };
    assert_eq!(check("9999-12-31").status.code(), Some(0));
    let expired = check("2020-01-01");
    assert_eq!(expired.status.code(), Some(1));
    assert!(text(&expired.stdout).contains("ended on 2020-01-01"));
    std::fs::write(&file, "[[site]]\nholder = \"orders\"\n").expect("it can be written");
    let nobody = run(&["check", "--max-pinned", "0", "--allow", path, OURS]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(
        text(&nobody.stderr).contains("owner"),
        "{}",
        text(&nobody.stderr)
    );
}

#[test]
fn a_new_site_fails_the_comparison() {
    assert_eq!(
        run(&["diff", "jvm25.jfr", OURS, "--gate"]).status.code(),
        Some(1)
    );
    assert_eq!(run(&["diff", "jvm25.jfr", OURS]).status.code(), Some(0));
}

#[test]
fn what_cannot_be_read_exits_with_two() {
    for (arguments, cause) in [
        (&["summary", "missing.jfr"][..], "missing.jfr: No such file"),
        (&["summary", "mod.rs"], "mod.rs: not a flight recording"),
        (&["summary", "."], ".: is a directory"),
        (&["view", "nonsense", OURS], "invalid value 'nonsense'"),
        (&["summary"], "required arguments were not provided"),
        (
            &["check", "--max-pinned", "0", "--longer-than", "20", OURS],
            "is no span",
        ),
        (
            &["export", "--to", "csv", "-o", "missing/x.csv", OURS],
            "missing/x.csv: No such file",
        ),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let told = text(&output.stderr);
        assert!(told.contains(cause), "{arguments:?}: {told}");
    }
}

#[test]
fn a_cut_file_gives_what_is_whole_and_says_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("cut.jfr");
    let path = file.to_str().expect("temporary paths are text");
    let whole = std::fs::read(golden().join(OURS)).expect("part of the sources");
    std::fs::write(&file, &whole[..whole.len() - 100]).expect("it can be written");
    let output = run(&["view", "pinned-threads", path]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text(&output.stdout).contains("shop::payment::charge"),
        "{}",
        text(&output.stdout)
    );
    let told = text(&output.stderr);
    assert!(
        told.contains(&format!(
            "byte {}: the file ends 100 bytes",
            whole.len() - 100
        )),
        "{told}"
    );
    // What is missing might have been pins, so no gate passes.
    let checked = run(&["check", "--max-pinned", "100", path]);
    assert_eq!(checked.status.code(), Some(2));
}

#[test]
fn a_file_without_one_readable_chunk_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("stub.jfr");
    let path = file.to_str().expect("temporary paths are text");
    let whole = std::fs::read(golden().join(OURS)).expect("part of the sources");
    for length in [68, 200] {
        std::fs::write(&file, &whole[..length]).expect("it can be written");
        let output = run(&["summary", path]);
        assert_eq!(output.status.code(), Some(2), "{length}");
        assert!(
            text(&output.stderr).contains("nothing in it can be read"),
            "{length}"
        );
    }
}

#[test]
fn exit_codes_are_in_the_help() {
    insta::assert_snapshot!("help", printed(&["--help"]));
}

/// A process with a recorder to attach to: this test's own, in another thread of which vt-flight asks.
#[test]
fn a_running_process_is_listed_dumped_and_set() {
    use std::time::Duration;
    use vt_flight_recorder::{FlightRecorder, Settings};

    let runtime = vt_runtime::Runtime::builder()
        .carriers(1)
        .build()
        .expect("a runtime");
    let builder = FlightRecorder::builder()
        .runtime(&runtime)
        .settings(Settings::test());
    let (_layer, _recorder) = builder.attach(true).install().expect("it starts");
    let parked = runtime.spawn(vt_runtime::thread::park);
    let pid = std::process::id().to_string();
    let of = |verb: &str, rest: &[&str]| printed(&[&[verb, "--pid", &pid][..], rest].concat());

    assert!(printed(&["ps"]).contains(&pid));
    assert!(of("status", &[]).contains("settings  test"));
    assert!(of("threads", &[]).contains("#1 vt-"));
    let json: serde_json::Value = serde_json::from_str(&of("threads", &["--json"])).expect("JSON");
    let container = &json["threadDump"]["threadContainers"][0];
    assert_eq!(
        (&container["threadCount"], &container["threads"][0]["tid"]),
        (&"1".into(), &"1".into())
    );

    let (tell, told) = std::sync::mpsc::channel();
    let pinned = runtime.spawn(move || {
        let orders = vt_runtime::sync::Monitor::named("orders", ());
        let _held = orders.enter();
        tell.send(()).expect("the test waits");
        vt_runtime::thread::park();
    });
    told.recv().expect("it runs");
    while runtime.open_pins().is_empty() {
        std::thread::yield_now();
    }
    let json: serde_json::Value = serde_json::from_str(&of("threads", &["--json"])).expect("JSON");
    let threads = &json["threadDump"]["threadContainers"][0]["threads"];
    for thread in threads.as_array().expect("a list") {
        let stack = thread["stack"].as_array().expect("a list");
        let calls = |name: &str| {
            stack
                .iter()
                .any(|frame| frame.as_str().is_some_and(|f| f.contains(name)))
        };
        // `park` itself may be a tail call, which leaves no frame; what runs a thread is always there.
        assert!(calls("vt_runtime::thread::"), "{thread:#}");
        assert!(
            thread["waitsAt"]
                .as_str()
                .is_some_and(|at| at.contains("cli.rs") || at.contains("function.rs")),
            "{thread:#}"
        );
        assert_eq!(
            (&thread["state"], &thread["virtual"]),
            (&"WAITING".into(), &true.into())
        );
    }
    let by = &threads[1]["pinnedBy"];
    assert_eq!(
        (&by["reason"], &by["holder"]),
        (&"monitor".into(), &"orders".into())
    );
    assert!(
        by["at"].as_str().is_some_and(|at| at.contains("cli.rs")),
        "{by}"
    );
    assert!(threads[1]["pinnedForNs"].as_i64() > Some(0), "{by}");
    assert_eq!(threads[1]["monitorsOwned"][0]["locks"][0], "orders");
    assert!(of("threads", &[]).contains("monitor orders"));
    pinned.thread().unpark();
    pinned.join().expect("it does not panic");

    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("live.jfr");
    let path = file.to_str().expect("temporary paths are text");
    of("dump", &["--last", "60s", "-o", path]);
    assert!(printed(&["view", "recording", path]).contains("asked by vt-flight"));
    assert_eq!(printed(&["symbolize", path]), "Every frame has its name.\n");
    assert_eq!(
        printed(&["check", "--max-pinned", "1", path])
            .lines()
            .next(),
        Some("passed: 1 pins, 1 allowed; 0 more at allowed sites")
    );

    of("set", &["--threshold", "5ms"]);
    assert_eq!(runtime.pin_threshold(), Duration::from_millis(5));
    let wrong = run(&["set", "--pid", &pid, "--threshold", "soon"]);
    assert_eq!(wrong.status.code(), Some(2));
    let nobody = run(&["status", "--pid", "1"]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(text(&nobody.stderr).contains("no recorder to attach to"));
    parked.thread().unpark();
    parked.join().expect("it does not panic");
}

#[test]
fn an_address_without_a_module_stays_a_number() {
    let told = printed(&["symbolize", OURS]);
    assert!(told.contains("0x9999"), "{told}");
}

#[test]
fn the_doctor_looks_into_a_program() {
    let own = std::env::current_exe().expect("the test's own path");
    let output = run(&["doctor", own.to_str().expect("a text")]);
    let told = text(&output.stdout);
    assert!(told.contains("ok  symbols"), "{told}");
    assert!(told.contains("ok  runtime"), "{told}");
    let wrong = run(&["doctor", OURS]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        text(&wrong.stderr).contains("not a program"),
        "{}",
        text(&wrong.stderr)
    );
}
