//! `--since`: what is said about revisions. What it keeps is tested where findings are.

use crate::project::Project;

#[test]
fn an_unknown_revision_or_no_repository_exits_with_2() {
    let project = Project::library("pub fn f() {}\n");
    let outcome = project.lint(&["--since", "HEAD"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    if !project.git(&["init", "-q"]) {
        return;
    }
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "one"]);
    for revision in ["nowhere", "--help", "HEAD:src", ""] {
        let outcome = project.lint(&[&format!("--since={revision}")]);
        assert_eq!(outcome.code, 2, "{revision}: {outcome:?}");
        assert!(
            outcome
                .err
                .contains(&format!("git knows no revision `{revision}`")),
            "{outcome:?}"
        );
    }
    let outcome = project.lint(&["--since", "HEAD"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
}
