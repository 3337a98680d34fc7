//! Runs that find something: exit codes, broken files, and what is said about either.

use serde_json::Value;

use crate::project::{Outcome, Project};

pub(crate) const SLEEPS: &str = "\
use std::sync::Mutex;
use std::time::Duration;

pub fn refresh(entries: &Mutex<Vec<u8>>) {
    let guard = entries.lock().unwrap();
    std::thread::sleep(Duration::from_millis(1));
    drop(guard);
}
";

/// The findings as `file:line rule`.
pub(crate) fn found(outcome: &Outcome) -> Vec<String> {
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

pub(crate) const JSON: [&str; 2] = ["--message-format", "json"];

pub(crate) fn json<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
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

#[test]
fn a_module_without_a_file_is_said_to_be_missing() {
    let project = Project::library(&format!(
        "mod gone;\n#[cfg(windows)]\nmod windows;\n#[cfg(made_by_build_script)]\nmod made;\n{SLEEPS}"
    ));
    let outcome = project.lint(&JSON);
    assert_eq!(
        found(&outcome),
        [
            "src/lib.rs:1 unparsed-source",
            "src/lib.rs:11 blocking-in-guard"
        ]
    );
    assert!(
        outcome
            .out
            .contains("there is no file for the module `gone`"),
        "{outcome:?}"
    );
    project.write("src/gone/mod.rs", "");
    assert_eq!(
        found(&project.lint(&JSON)),
        ["src/lib.rs:11 blocking-in-guard"]
    );
}

#[test]
fn a_run_that_could_parse_nothing_exits_with_2() {
    let project = Project::library("fn half( {\n");
    for arguments in [
        &json(&[])[..],
        &json(&["src/lib.rs"]),
        &json(&["--exit-zero"]),
    ] {
        let outcome = project.lint(arguments);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert_eq!(found(&outcome), ["src/lib.rs:1 unparsed-source"]);
        assert!(
            outcome.err.contains("nothing could be analysed"),
            "{outcome:?}"
        );
    }
    // Nothing to say about is not nothing that could be said.
    project.write("src/lib.rs", "");
    assert_eq!(project.lint(&[]).code, 0);
}

#[test]
fn a_generated_line_without_end_is_shown_in_part() {
    let padding = "f(); ".repeat(20_000);
    let body = SLEEPS.replace('\n', " ");
    let project = Project::library(&format!("fn f() {{}} fn g() {{ {padding} }} {body}\n"));
    let outcome = project.lint(&["src/lib.rs"]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    let longest = outcome.out.lines().map(str::len).max();
    assert!(longest < Some(1000), "{longest:?}");
    assert!(outcome.out.contains("std::thread::sleep"), "{outcome:?}");
}
