//! Help, exit codes, and what is said about wrong command lines.

use crate::project::Project;

#[test]
fn help_lists_the_exit_codes() {
    let outcome = Project::library("").lint(&["--help"]);
    assert_eq!(outcome.code, 0);
    insta::assert_snapshot!("help", outcome.out);
}

#[test]
fn both_spellings_work() {
    let project = Project::library("pub fn f() {}\n");
    for spelling in [&["vt-lint", "-v"][..], &["-v"]] {
        let outcome = project.lint(spelling);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(
            outcome.err.contains("checking shop (lib, edition 2024)"),
            "{outcome:?}"
        );
    }
}

#[test]
fn wrong_command_lines_exit_with_2_and_name_the_cure() {
    let project = Project::library("pub fn f() {}\n");
    let cases: &[(&[&str], &str)] = &[
        (&["--bogus"], "unexpected argument '--bogus'"),
        (
            &["--message-format", "xml"],
            "possible values: human, short, json, sarif, github",
        ),
        (
            &["--edition", "2022", "src/lib.rs"],
            "the editions are 2015, 2018, 2021 and 2024",
        ),
        (
            &["--deny", "no-such-rule"],
            "there is no rule `no-such-rule`",
        ),
        (&["--explain", "no-such-rule"], "--list-rules"),
        (&["missing.rs"], "there is no file `missing.rs`"),
        (&["src"], "`src` is a directory"),
        (
            &["-p", "other"],
            "no package of this workspace is called `other`; there are: shop",
        ),
        (
            &["--features", "other"],
            "no selected package has a feature `other`",
        ),
        (
            &["--manifest-path", "nowhere/Cargo.toml"],
            "there is no manifest `nowhere/Cargo.toml`",
        ),
        (
            &["--config", "nowhere.toml"],
            "nowhere.toml: cannot be read",
        ),
        (&["--target", "no-such-target"], "no-such-target"),
        (&["--jobs", "0"], "0 is not in 1.."),
        (
            &["--baseline", "nowhere.json"],
            "make it with --write-baseline",
        ),
        (&["--dry-run"], "--fix"),
        (&["--allow-dirty"], "--fix"),
        (&["src/lib.rs", "-p", "shop"], "cannot be used with"),
        (&["src/lib.rs", "--workspace"], "cannot be used with"),
    ];
    for (arguments, expected) in cases {
        let outcome = project.lint(arguments);
        assert_eq!(outcome.code, 2, "{arguments:?}: {outcome:?}");
        assert!(outcome.err.contains(expected), "{arguments:?}: {outcome:?}");
        assert_eq!(outcome.out, "", "{arguments:?}");
    }
}

#[test]
fn a_folder_without_manifest_says_where_it_looked() {
    let project = Project::new(&[("notes.txt", "")]);
    let outcome = project.lint(&[]);
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.err.contains("there is no `Cargo.toml` in"),
        "{outcome:?}"
    );
}

#[test]
fn every_rule_has_a_manual_with_the_fixed_heads() {
    for rule in vt_lint::rules::TABLE {
        let manual = rule.manual();
        let heads: Vec<&str> = manual
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        let expected = [
            "What it does",
            "Why",
            "What it cannot see",
            "Example",
            "Use instead",
            "Runtime reason",
        ];
        assert_eq!(heads, expected, "{}", rule.id);
    }
    let outcome = Project::library("").lint(&["--explain", "unused_suppression"]);
    assert_eq!(outcome.code, 0);
    assert!(
        outcome
            .out
            .starts_with("# unused-suppression (warn by default)"),
        "{outcome:?}"
    );
}

#[test]
fn the_list_of_rules_shows_the_levels_of_this_run() {
    let outcome = Project::new(&[]).lint(&[
        "--list-rules",
        "--allow",
        "all",
        "--deny",
        "unused-suppression",
    ]);
    assert_eq!(outcome.code, 0);
    assert_eq!(outcome.out.lines().count(), vt_lint::rules::TABLE.len());
    for line in outcome.out.lines() {
        let level = if line.starts_with("unused-suppression") {
            " deny "
        } else {
            " allow "
        };
        assert!(line.contains(level), "{line}");
    }
}
