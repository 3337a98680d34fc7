//! What earlier runs, revisions and recordings change about a run.

use serde_json::Value;

use crate::findings::{JSON, SLEEPS, found, json};
use crate::project::Project;

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

    // So does a guard whose end is gone, though every line that is left is old.
    let dropped = SLEEPS.replace("    std::thread", "    drop(guard);\n    std::thread");
    let dropped = dropped.replace("    drop(guard);\n}", "}");
    project.write("src/lib.rs", &dropped);
    assert_eq!(project.lint(&[]).code, 0);
    project.git(&["commit", "-qam", "ends its guard"]);
    project.write("src/lib.rs", &dropped.replace("    drop(guard);\n", ""));
    assert_eq!(
        found(&project.lint(&json(&["--since", "HEAD"]))),
        ["src/lib.rs:6 blocking-in-guard"]
    );
    project.write("src/lib.rs", SLEEPS);
    project.git(&["commit", "-qam", "as before"]);

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

    // A file that was not written to its end: what can be read is joined, and the rest is told.
    let whole = std::fs::read(recording).expect("the recording");
    let mut cut = whole.clone();
    cut.extend(&whole[..whole.len() / 2]);
    std::fs::write(project.path("half.jfr"), cut).expect("a file");
    let outcome = project.lint(&json(&["--trace", "half.jfr"]));
    assert_eq!(found(&outcome)[0], "src/payment.rs:42 blocking-in-guard");
    assert!(
        outcome
            .err
            .contains("`half.jfr` is damaged in the part that begins at byte"),
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

/// Files of the cache below a folder.
fn kept(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(kept(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn an_edit_leaves_the_other_files_lowered_and_changes_no_byte_of_the_answer() {
    let project = Project::library(&format!("#[macro_use]\nmod macros;\nmod other;\n{SLEEPS}"));
    project.write(
        "src/macros.rs",
        "macro_rules! nap { () => { std::thread::sleep(std::time::Duration::ZERO) } }\n",
    );
    project.write(
        "src/other.rs",
        "pub fn nap_under(lock: &std::sync::Mutex<u8>) {\n    let _held = lock.lock().unwrap();\n    nap!();\n}\n",
    );
    let before = project.contents();
    let fresh = |project: &Project| project.lint(&json(&["--no-cache"])).out;
    let first = project.lint(&JSON).out;
    assert_eq!(found(&project.lint(&JSON)).len(), 2);
    let entries = kept(project.cache());
    assert_eq!(
        entries.len(),
        1,
        "a first run only keeps its report: {entries:?}"
    );

    for edit in 1..4 {
        project.write(
            "src/lib.rs",
            &format!("#[macro_use]\nmod macros;\nmod other;\n// edit {edit}\n{SLEEPS}"),
        );
        let answer = project.lint(&JSON).out;
        assert_ne!(answer, first);
        assert_eq!(answer, fresh(&project), "edit {edit}");
    }
    let files: Vec<_> = kept(project.cache())
        .into_iter()
        .filter(|path| !entries.contains(path))
        .collect();
    // Three texts of `lib.rs`, and each other file once; the one that uses a macro once more.
    assert_eq!(files.len(), 6, "{files:?}");

    // Whatever is in the cache's files, the answer is the same.
    for (index, path) in kept(project.cache()).iter().enumerate() {
        let mut bytes = std::fs::read(path).expect("a file");
        match index % 3 {
            0 => bytes.truncate(bytes.len() / 2),
            1 => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x55;
            }
            _ => bytes = b"nothing of ours".to_vec(),
        }
        std::fs::write(path, bytes).expect("a file");
    }
    assert_eq!(project.lint(&JSON).out, fresh(&project));
    project.write(
        "src/lib.rs",
        &format!("#[macro_use]\nmod macros;\nmod other;\n{SLEEPS}"),
    );
    assert_eq!(project.lint(&JSON).out, first);
    assert_eq!(
        project.contents(),
        before,
        "nothing is written into the checked code"
    );
}

#[test]
fn the_cache_lies_in_the_target_folder_that_is_asked_for() {
    let project = Project::library(SLEEPS);
    let target = tempfile::tempdir().expect("a scratch folder");
    let outcome = project.lint_with(&[("CARGO_TARGET_DIR", target.path())], &["-v"]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert_eq!(kept(&target.path().join("vt-lint")).len(), 1);
    assert!(kept(project.cache()).is_empty());
    let again = project.lint_with(&[("CARGO_TARGET_DIR", target.path())], &["-v"]);
    assert!(again.err.contains("nothing changed since the last run"));
    assert_eq!(again.out, outcome.out);
}
