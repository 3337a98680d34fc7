//! Runs that find something: exit codes, broken files, what is filtered and what is remembered.

use serde_json::Value;

use crate::project::{Outcome, Project};

const SLEEPS: &str = "\
use std::sync::Mutex;
use std::time::Duration;

pub fn refresh(entries: &Mutex<Vec<u8>>) {
    let guard = entries.lock().unwrap();
    std::thread::sleep(Duration::from_millis(1));
    drop(guard);
}
";

/// The findings as `file:line rule`.
fn found(outcome: &Outcome) -> Vec<String> {
    let lines = outcome
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("one object a line"));
    let one = |value: Value| {
        let message = &value["message"];
        let spans = message["spans"].as_array().expect("spans");
        let primary = spans
            .iter()
            .find(|span| span["is_primary"] == true)
            .expect("a primary span");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        format!(
            "{}:{} {}",
            text(&primary["file_name"]),
            primary["line_start"],
            text(&message["code"]["code"])
        )
    };
    lines.map(one).collect()
}

const JSON: [&str; 2] = ["--message-format", "json"];

fn json<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    arguments.iter().copied().chain(JSON).collect()
}

#[test]
fn a_deny_finding_exits_with_1_unless_levels_or_flags_say_otherwise() {
    let project = Project::library(SLEEPS);
    let cases: &[(&[&str], i32, usize)] = &[
        (&[], 1, 1),
        (&["--warn", "blocking-in-guard"], 0, 1),
        (&["--allow", "blocking-in-guard"], 0, 0),
        (&["--warn", "all", "--deny", "warnings"], 1, 1),
        (&["--exit-zero"], 0, 1),
        (&["src/lib.rs"], 1, 1),
        (&["--jobs", "1"], 1, 1),
        (&["--quiet"], 1, 1),
    ];
    for (arguments, code, count) in cases {
        let outcome = project.lint(&json(arguments));
        assert_eq!(
            (outcome.code, found(&outcome).len()),
            (*code, *count),
            "{arguments:?}: {outcome:?}"
        );
    }
    assert_eq!(
        found(&project.lint(&JSON)),
        ["src/lib.rs:6 blocking-in-guard"]
    );
    project.write("vt-lint.toml", "exclude = ['src/lib.rs']\n");
    assert_eq!(project.lint(&[]).code, 0);
}

#[test]
fn every_format_names_the_place() {
    let project = Project::library(SLEEPS);
    for format in ["human", "short", "json", "sarif", "github"] {
        let outcome = project.lint(&["--message-format", format]);
        assert_eq!(outcome.code, 1, "{outcome:?}");
        assert!(outcome.out.contains("src/lib.rs"), "{outcome:?}");
        assert!(outcome.out.contains("blocking-in-guard"), "{outcome:?}");
        assert_eq!(
            outcome.err.trim(),
            "1 error, 0 warnings (8 lines in 1 file)"
        );
    }
}

#[test]
fn a_broken_file_is_one_finding_and_the_rest_is_analysed() {
    let project = Project::library(&format!("mod broken;\nmod latin;\n{SLEEPS}"));
    project.write("src/broken.rs", "fn half( {\n");
    std::fs::write(project.path("src/latin.rs"), b"// caf\xe9\n").expect("a file");
    let outcome = project.lint(&JSON);
    assert_eq!(outcome.code, 1);
    let found = found(&outcome);
    let broken = found
        .iter()
        .filter(|line| line.ends_with("unparsed-source"))
        .count();
    assert_eq!(broken, 2, "{found:?}");
    assert!(
        found.contains(&"src/lib.rs:8 blocking-in-guard".to_owned()),
        "{found:?}"
    );
    let listed = project.lint(&["--show-files"]).out;
    assert!(listed.contains("broken    src/broken.rs"), "{listed}");
    assert!(listed.contains("analysed  src/lib.rs"), "{listed}");
}

#[test]
fn one_missing_file_among_others_is_a_finding() {
    let project = Project::library(SLEEPS);
    let outcome = project.lint(&json(&["src/lib.rs", "missing.rs"]));
    assert_eq!(outcome.code, 1);
    let found = found(&outcome);
    assert!(
        found.contains(&"missing.rs:1 unparsed-source".to_owned()),
        "{found:?}"
    );
    assert!(
        found.contains(&"src/lib.rs:6 blocking-in-guard".to_owned()),
        "{found:?}"
    );
}

#[test]
fn standard_input_goes_by_its_name() {
    let project = Project::library("");
    let outcome = project.lint_in(
        "",
        &json(&["-", "--stdin-filename", "src/cache.rs"]),
        SLEEPS,
    );
    assert_eq!(found(&outcome), ["src/cache.rs:6 blocking-in-guard"]);
    assert!(
        outcome.out.contains("std::thread::sleep(Duration"),
        "the text is shown: {outcome:?}"
    );
}

#[test]
fn packages_that_were_not_selected_explain_but_are_not_reported() {
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = ['store', 'web']\nresolver = '3'\n",
        ),
        (
            "store/Cargo.toml",
            "[package]\nname = 'store'\nversion = '0.1.0'\nedition = '2024'\n",
        ),
        (
            "store/src/lib.rs",
            &format!("pub fn save() {{\n    std::fs::write(\"x\", \"\").unwrap();\n}}\n{SLEEPS}"),
        ),
        (
            "web/Cargo.toml",
            "[package]\nname = 'web'\nversion = '0.1.0'\nedition = '2024'\n[dependencies]\ndisk = { package = 'store', path = '../store' }\n",
        ),
        (
            "web/src/lib.rs",
            "pub fn put(state: &std::sync::Mutex<u8>) {\n    let _guard = state.lock().unwrap();\n    disk::save();\n}\n",
        ),
    ]);
    let outcome = project.lint(&json(&["-p", "web"]));
    assert_eq!(
        found(&outcome),
        ["web/src/lib.rs:3 blocking-in-guard-indirect"]
    );
    assert!(
        outcome.out.contains("store/src/lib.rs"),
        "the chain is shown: {outcome:?}"
    );
}

#[test]
fn a_baseline_leaves_out_what_it_lists_wherever_it_moved() {
    let project = Project::library(SLEEPS);
    let outcome = project.lint(&["--write-baseline", "known.json"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(project.lint(&["--baseline", "known.json"]).code, 0);

    project.write("src/lib.rs", &format!("// moved down\n\n{SLEEPS}"));
    assert_eq!(project.lint(&["--baseline", "known.json"]).code, 0);

    let second = SLEEPS
        .replace("use std::sync::Mutex;\nuse std::time::Duration;\n", "")
        .replace("refresh", "reload");
    project.write("src/lib.rs", &format!("{SLEEPS}{second}"));
    let outcome = project.lint(&json(&["--baseline", "known.json"]));
    assert_eq!(found(&outcome), ["src/lib.rs:12 blocking-in-guard"]);

    project.write("src/lib.rs", "");
    let outcome = project.lint(&["--baseline", "known.json"]);
    assert!(
        outcome
            .err
            .contains("1 finding of the baseline no longer there"),
        "{outcome:?}"
    );

    project.write("known.json", "{\"version\": 2, \"findings\": []}");
    assert!(
        project
            .lint(&["--baseline", "known.json"])
            .err
            .contains("has version 2")
    );
    project.write("known.json", "[]");
    assert!(
        project
            .lint(&["--baseline", "known.json"])
            .err
            .contains("is no baseline file")
    );
}

#[test]
fn only_what_changed_lines_bring_in_since_a_revision() {
    let project = Project::library(SLEEPS);
    if !project.git(&["init", "-q"]) {
        return;
    }
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "one"]);
    assert_eq!(project.lint(&["--since", "HEAD"]).code, 0);

    let second = SLEEPS
        .replace("use std::sync::Mutex;\nuse std::time::Duration;\n", "")
        .replace("refresh", "reload");
    project.write("src/lib.rs", &format!("// moved\n{SLEEPS}{second}"));
    let outcome = project.lint(&json(&["--since", "HEAD"]));
    assert_eq!(found(&outcome), ["src/lib.rs:13 blocking-in-guard"]);

    // A guard that is new makes a finding of a call that is old.
    project.write(
        "src/lib.rs",
        &SLEEPS.replace(
            "let guard = entries.lock().unwrap();",
            "let guard = entries.lock();",
        ),
    );
    assert_eq!(
        found(&project.lint(&json(&["--since", "HEAD"]))),
        ["src/lib.rs:6 blocking-in-guard"]
    );

    project.write("src/new.rs", SLEEPS);
    project.write("src/lib.rs", &format!("mod new;\n{SLEEPS}"));
    assert_eq!(
        found(&project.lint(&json(&["--since", "HEAD"]))),
        ["src/new.rs:6 blocking-in-guard"]
    );
    assert_eq!(
        found(&project.lint_in("src", &json(&["--since", "HEAD"]), "")),
        ["src/new.rs:6 blocking-in-guard"]
    );
}

#[test]
fn an_unchanged_run_is_answered_from_the_last_one() {
    let project = Project::library(&format!("mod other;\n{SLEEPS}"));
    project.write("src/other.rs", "");
    let is_cached = |arguments: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["-v"]).collect();
        let outcome = project.lint(&arguments);
        (
            outcome.err.contains("nothing changed since the last run"),
            outcome.out,
        )
    };
    let (cached, first) = is_cached(&[]);
    assert!(!cached);
    assert_eq!(is_cached(&[]), (true, first.clone()));
    assert_eq!(is_cached(&["--no-cache"]), (false, first.clone()));
    assert_eq!(is_cached(&["--jobs", "1"]), (true, first.clone()));
    assert!(
        !is_cached(&["--warn", "all"]).0,
        "levels are part of the question"
    );
    // The same text again is the same file; another text, or a file that was not there, is not.
    project.write("src/other.rs", "");
    assert!(is_cached(&[]).0);
    project.write("src/other.rs", "\n");
    assert!(!is_cached(&[]).0);
    std::fs::remove_file(project.path("src/other.rs")).expect("removed");
    project.write("src/other/mod.rs", "\n");
    assert!(!is_cached(&[]).0);
    assert!(is_cached(&[]).0);
}

#[test]
fn a_recording_ranks_findings_and_lists_pins_without_one() {
    let recording = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../flight-recorder/tests/golden/schema-1.jfr"
    );
    // The recording's pins are at lines 42 of `payment.rs` and 12 of `report.rs`.
    let mut lines = vec!["// padding"; 41];
    lines[39] =
        "pub fn charge(orders: &std::sync::Mutex<u8>) { let _guard = orders.lock().unwrap();";
    lines.push("std::thread::sleep(std::time::Duration::from_millis(1)); }");
    let project = Project::library(&format!("mod payment;\n{SLEEPS}"));
    project.write("src/payment.rs", &lines.join("\n"));
    assert_eq!(
        found(&project.lint(&JSON)),
        [
            "src/lib.rs:7 blocking-in-guard",
            "src/payment.rs:42 blocking-in-guard"
        ]
    );
    let outcome = project.lint(&json(&["--trace", recording]));
    assert_eq!(
        found(&outcome),
        [
            "src/payment.rs:42 blocking-in-guard",
            "src/lib.rs:7 blocking-in-guard"
        ]
    );
    let first: Value =
        serde_json::from_str(outcome.out.lines().next().expect("a line")).expect("an object");
    assert_eq!(first["message"]["vt_lint"]["pinned"]["count"], 2);
    assert_eq!(
        first["message"]["vt_lint"]["pinned"]["duration_ns"],
        65_000_000
    );
    let outcome = project.lint(&["--trace", recording]);
    assert!(
        outcome
            .out
            .contains("recorded: pinned 2 times, 65.0 ms in all"),
        "{outcome:?}"
    );
    assert!(
        outcome.out.contains("pins that no finding predicts:\n"),
        "{outcome:?}"
    );
    assert!(
        outcome
            .out
            .contains("shop/src/report.rs:12:9 (monitor_enter"),
        "{outcome:?}"
    );

    project.write("cut.jfr", "FLR");
    let outcome = project.lint(&["--trace", "cut.jfr"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(
        outcome.err.contains("`cut.jfr` is no flight recording"),
        "{outcome:?}"
    );
}

#[test]
fn every_thread_count_gives_the_same_bytes() {
    let mut files = vec![(
        "Cargo.toml",
        "[package]\nname = 'many'\nversion = '0.1.0'\nedition = '2024'\n".to_owned(),
    )];
    let names: Vec<String> = (0..40).map(|index| format!("src/m{index}.rs")).collect();
    let modules: String = (0..40).map(|index| format!("mod m{index};\n")).collect();
    files.push(("src/lib.rs", modules));
    files.extend(names.iter().map(|name| (name.as_str(), SLEEPS.to_owned())));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let project = Project::new(&files);
    let run = |jobs: &str| project.lint(&json(&["--no-cache", "--jobs", jobs])).out;
    let one = run("1");
    assert_eq!(one.lines().count(), 40);
    for jobs in ["1", "2", "7"] {
        assert_eq!(run(jobs), one);
    }
}
