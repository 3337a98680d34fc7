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

/// The findings of a run as `line rule`.
fn found(project: &Project) -> Vec<String> {
    let outcome = project.lint(&["--message-format", "short"]);
    let lines = outcome.out.lines().map(|line| {
        let mut parts = line.split(':');
        let number = parts.nth(1).expect("a line number");
        let rule = line.split(['[', ']']).nth(1).expect("a rule");
        format!("{number} {rule}")
    });
    lines.collect()
}

const LISTS: &str = "\
use std::cell::UnsafeCell;
use std::ops::Deref;
use std::sync::Mutex;

pub struct Spin<T>(UnsafeCell<T>);
pub struct SpinGuard<'a, T>(&'a T);

impl<T> Spin<T> {
    pub fn lock(&self) -> SpinGuard<'_, T> {
        SpinGuard(unsafe { &*self.0.get() })
    }
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        Some(self.lock())
    }
}

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0
    }
}

pub mod db {
    pub fn run() {}
    pub fn nap() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

pub fn raw_device() {}

pub fn under_spin(lock: &Spin<u8>, cell: &outer::Cell<u8>) {
    let held = lock.lock();
    std::thread::sleep(std::time::Duration::from_millis(u64::from(*held)));
    drop(held);
    if let Some(tried) = lock.try_lock() {
        std::thread::sleep(std::time::Duration::from_millis(u64::from(*tried)));
    }
    let first = lock.lock();
    let second = lock.lock();
    drop((first, second));
    let cell = cell.lock();
    std::thread::sleep(std::time::Duration::from_millis(1));
    drop(cell);
}

pub fn under_std(lock: &Mutex<u8>) {
    let held = lock.lock().unwrap();
    db::run();
    db::nap();
    raw_device();
    drop(held);
}
";

#[test]
fn every_list_of_the_configuration_acts() {
    let project = Project::library(LISTS);
    let nap = "51 blocking-in-guard-indirect";
    let cases: &[(&str, &[&str])] = &[
        ("", &[nap]),
        (
            "blocking = ['shop::db::run']",
            &["50 blocking-in-guard", nap],
        ),
        ("blocking = ['db::run']", &["50 blocking-in-guard", nap]),
        ("blocking = ['b::run']", &[nap]),
        ("not-blocking = ['shop::db::nap']", &[]),
        ("park = ['shop::db::run']", &["50 guard-across-park", nap]),
        ("foreign = ['raw_device']", &[nap, "52 ffi-in-guard"]),
        ("exclude = ['src']", &[]),
        (
            "locks = ['shop::Spin']",
            &[
                "35 blocking-in-guard",
                "38 blocking-in-guard",
                "41 nested-lock",
                nap,
            ],
        ),
        ("locks = ['outer::Cell']", &["44 blocking-in-guard", nap]),
        ("[levels]\nblocking-in-guard-indirect = 'allow'", &[]),
    ];
    for (text, expected) in cases {
        project.write("vt-lint.toml", text);
        assert_eq!(found(&project), *expected, "{text}");
    }
    project.write("vt-lint.toml", "tests = true");
    project.write("tests/it.rs", LISTS);
    assert_eq!(found(&project), [nap, nap]);
}
