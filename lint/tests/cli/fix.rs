//! `--fix`: what it refuses, what it prints and what it writes. That repairs compile is tested in `tests/repairs.rs`.

use std::fs;

use crate::project::Project;

const REPAIRABLE: &str = "\
use std::sync::Mutex;

pub fn run(jobs: &Mutex<Vec<u64>>) {
    if let Some(job) = jobs.lock().unwrap().pop() {
        std::thread::sleep(std::time::Duration::from_millis(job));
    }
}
";

const REPAIRED: &str = "\
use std::sync::Mutex;

pub fn run(jobs: &Mutex<Vec<u64>>) {
    let value = jobs.lock().unwrap().pop();
    if let Some(job) = value {
        std::thread::sleep(std::time::Duration::from_millis(job));
    }
}
";

fn text(project: &Project) -> String {
    fs::read_to_string(project.path("src/lib.rs")).expect("a source")
}

#[test]
fn a_dry_run_prints_a_diff_and_changes_nothing() {
    let project = Project::library(REPAIRABLE);
    let before = project.contents();
    let outcome = project.lint(&["--fix", "--dry-run"]);
    assert_eq!(outcome.code, 1, "the finding is still there: {outcome:?}");
    for line in [
        "--- a/src/lib.rs\n+++ b/src/lib.rs\n",
        "\n-    if let Some(job) = jobs.lock().unwrap().pop() {\n",
        "\n+    let value = jobs.lock().unwrap().pop();\n+    if let Some(job) = value {\n",
    ] {
        assert!(outcome.out.contains(line), "{outcome:?}");
    }
    assert!(
        outcome.err.contains("could repair 1 finding"),
        "{outcome:?}"
    );
    assert_eq!(project.contents(), before);
    let diff = fs::write(project.path("repair.diff"), &outcome.out);
    diff.expect("a file");
    if project.git(&["init", "-q"]) {
        project.git(&["apply", "repair.diff"]);
        assert_eq!(text(&project), REPAIRED);
    }
}

#[test]
fn a_repaired_finding_is_gone_and_a_second_run_changes_nothing() {
    let project = Project::library(REPAIRABLE);
    let outcome = project.lint(&["--fix", "--allow-no-vcs"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.err.contains("repaired 1 finding"), "{outcome:?}");
    assert_eq!(text(&project), REPAIRED);
    let files = project.contents();
    let outcome = project.lint(&["--fix", "--allow-no-vcs"]);
    assert!(outcome.err.contains("repaired 0 findings"), "{outcome:?}");
    assert_eq!(project.contents(), files, "nothing stays behind either");
}

#[test]
fn code_that_is_not_committed_is_refused_as_by_cargo_fix() {
    let project = Project::library(REPAIRABLE);
    project.write("src/other.rs", "");
    project.write("src/lib.rs", &format!("mod other;\n{REPAIRABLE}"));
    let refused = |arguments: &[&str], words: &str| {
        let before = project.contents();
        let outcome = project.lint(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {outcome:?}");
        assert!(outcome.err.contains(words), "{arguments:?}: {outcome:?}");
        assert_eq!(project.contents(), before, "{arguments:?}");
    };
    refused(&["--fix"], "--allow-no-vcs");
    if !project.git(&["init", "-q"]) {
        return;
    }
    refused(&["--fix"], "--allow-dirty");
    project.git(&["add", "-A"]);
    refused(&["--fix"], "--allow-staged");
    project.git(&["commit", "-qm", "one"]);
    // A change in another file of the run: what was repaired could not be told from it.
    project.write("src/other.rs", "// changed\n");
    refused(&["--fix"], "src/other.rs");
    refused(&["--fix", "--allow-staged"], "--allow-dirty");
    project.git(&["checkout", "-q", "src/other.rs"]);
    let outcome = project.lint(&["--fix"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(text(&project), format!("mod other;\n{REPAIRED}"));
    // There is nothing to repair, so there is nothing to refuse.
    assert_eq!(project.lint(&["--fix"]).code, 0);
    project.git(&["checkout", "-q", "src/lib.rs"]);
    project.write("src/other.rs", "// changed\n");
    assert_eq!(project.lint(&["--fix", "--allow-dirty"]).code, 0);
}

#[test]
fn only_findings_that_are_reported_are_repaired() {
    let project = Project::library(REPAIRABLE);
    project.lint(&["--write-baseline", "known.json"]);
    project.lint(&["--fix", "--allow-no-vcs", "--baseline", "known.json"]);
    assert_eq!(text(&project), REPAIRABLE);
    let silenced = REPAIRABLE.replace(
        "        std::thread",
        "        // vt-lint: allow(blocking-in-guard) -- meant\n        std::thread",
    );
    project.write("src/lib.rs", &silenced);
    project.lint(&["--fix", "--allow-no-vcs"]);
    assert_eq!(text(&project), silenced);
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_replaced_stays_whole() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::library(REPAIRABLE);
    // What stands in the way of the new file is not written through, wherever it leads.
    std::os::unix::fs::symlink(
        project.path("victim"),
        project.path("src/lib.rs.vt-lint-new"),
    )
    .expect("a link");
    let outcome = project.lint(&["--fix", "--allow-no-vcs"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(
        outcome.err.contains("cannot repair `src/lib.rs`"),
        "{outcome:?}"
    );
    assert_eq!(text(&project), REPAIRABLE);
    assert!(!project.path("victim").exists());

    let script = fs::Permissions::from_mode(0o750);
    fs::set_permissions(project.path("src/lib.rs"), script).expect("permissions");
    assert_eq!(project.lint(&["--fix", "--allow-no-vcs"]).code, 0);
    let kept = fs::metadata(project.path("src/lib.rs")).expect("metadata");
    assert_eq!(kept.permissions().mode() & 0o777, 0o750);
}

#[test]
fn standard_input_cannot_be_repaired_but_shown() {
    let project = Project::library("");
    let outcome = project.lint_in("", &["-", "--fix"], REPAIRABLE);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    let outcome = project.lint_in("", &["-", "--fix", "--dry-run"], REPAIRABLE);
    assert!(outcome.out.contains("+    let value ="), "{outcome:?}");
}
