//! Which configuration applies, and what is said about a wrong one.

use crate::project::{Outcome, Project};

const MANIFEST: &str = "[package]\nname = 'shop'\nversion = '0.1.0'\nedition = '2024'\n";
const RULE: &str = "unused-suppression";

/// The level of [`RULE`] in a run.
fn level(outcome: &Outcome) -> &str {
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let line = outcome
        .out
        .lines()
        .find(|line| line.starts_with(RULE))
        .expect("the rule is listed");
    line.split_whitespace().nth(1).expect("its level")
}

#[test]
fn the_nearest_file_wins_over_metadata_and_flags_over_both() {
    let project = Project::library("");
    assert_eq!(level(&project.lint(&["--list-rules"])), "warn");

    let metadata = "[package.metadata.vt-lint.levels]\nunused-suppression = 'deny'\n";
    project.write("Cargo.toml", &format!("{MANIFEST}{metadata}"));
    assert_eq!(level(&project.lint(&["--list-rules"])), "deny");

    project.write("vt-lint.toml", "[levels]\nunused_suppression = 'allow'\n");
    assert_eq!(
        level(&project.lint_in("src", &["--list-rules"], "")),
        "allow"
    );

    project.write("other.toml", "");
    assert_eq!(
        level(&project.lint(&["--list-rules", "--config", "other.toml"])),
        "warn"
    );
    assert_eq!(
        level(&project.lint(&["--list-rules", "--deny", "all", "--warn", RULE])),
        "warn"
    );
    assert_eq!(
        level(&project.lint(&["--list-rules", "--warn", RULE, "--deny", "all"])),
        "deny"
    );
}

#[test]
fn the_workspace_s_metadata_comes_last() {
    let workspace = "[workspace]\nmembers = ['shop']\n[workspace.metadata.vt-lint.levels]\nunused-suppression = 'deny'\n";
    let project = Project::new(&[
        ("Cargo.toml", workspace),
        ("shop/Cargo.toml", MANIFEST),
        ("shop/src/lib.rs", ""),
    ]);
    assert_eq!(
        level(&project.lint_in("shop", &["--list-rules"], "")),
        "deny"
    );
    project.write("shop/vt-lint.toml", "");
    assert_eq!(
        level(&project.lint_in("shop", &["--list-rules"], "")),
        "warn"
    );
}

#[test]
fn mistakes_in_the_configuration_exit_with_2() {
    let cases = [
        ("blokcing = []", "unknown field `blokcing`"),
        (
            "[levels]\nno-such-rule = 'warn'",
            "there is no rule `no-such-rule`",
        ),
        (
            "[levels]\nunused-suppression = 'loud'",
            "must be allow, warn or deny",
        ),
        ("blocking = 'a::b'", "expected a sequence"),
        ("[levels", "vt-lint.toml"),
    ];
    for (text, expected) in cases {
        let project = Project::library("");
        project.write("vt-lint.toml", text);
        let outcome = project.lint(&[]);
        assert_eq!(outcome.code, 2, "{text}: {outcome:?}");
        assert!(outcome.err.contains(expected), "{text}: {outcome:?}");
    }
    let project = Project::library("");
    project.write(
        "Cargo.toml",
        &format!("{MANIFEST}[package.metadata.vt-lint]\nlevel = 'deny'\n"),
    );
    let outcome = project.lint(&[]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(
        outcome.err.contains("[package.metadata.vt-lint]"),
        "{outcome:?}"
    );
    assert!(outcome.err.contains("unknown field `level`"), "{outcome:?}");
}
