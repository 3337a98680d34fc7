//! Drop scopes as rustc compiles them against drop scopes as the lint sees them.
//!
//! `scopes/both.rs` is a program that says at each call of `b` whether a lock is held then, and `b` blocks. The lint
//! must report exactly the calls at which the running program says so, in both editions. So must it for programs made
//! at random (`scopes/random`); `VT_SCOPES_PROGRAMS` says how many, from the seed `VT_SCOPES_SEED` on.

#[path = "scopes/random/mod.rs"]
mod random;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use vt_lint::{
    CfgSet, Config, CrateInput, Edition, Input, SourceError, Sources, TargetKind, check,
};

/// One file in memory.
struct OneFile(String);

impl Sources for OneFile {
    fn read(&self, _: &Path) -> Result<Arc<str>, SourceError> {
        Ok(self.0.as_str().into())
    }

    fn exists(&self, _: &Path) -> bool {
        false
    }

    fn display(&self, path: &Path) -> String {
        path.display().to_string()
    }
}

fn program(edition: Edition) -> String {
    let chains = match edition {
        Edition::E2024 => include_str!("scopes/chains_2024.rs"),
        _ => include_str!("scopes/chains_2021.rs"),
    };
    let parts = [
        include_str!("scopes/both.rs"),
        include_str!("scopes/moves.rs"),
        chains,
    ];
    // The parts' own headers cannot stand in the middle of a file.
    let lines = parts
        .iter()
        .flat_map(|part| part.lines())
        .filter(|line| !line.starts_with("//!"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Lines at which the program says held, and lines at which it says free.
fn run(text: &str, edition: Edition) -> (BTreeSet<u32>, BTreeSet<u32>) {
    let directory = tempfile::tempdir().expect("a scratch folder");
    let (source, binary) = (
        directory.path().join("scopes.rs"),
        directory.path().join("scopes"),
    );
    std::fs::write(&source, text).expect("the program is written");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .args([
            "-A",
            "warnings",
            "-A",
            "let_underscore_lock",
            "--edition",
            edition.name(),
            "-o",
        ])
        .arg(&binary)
        .arg(&source)
        .output()
        .expect("rustc runs");
    assert!(
        built.status.success(),
        "the program compiles: {}",
        String::from_utf8_lossy(&built.stderr)
    );
    let ran = Command::new(&binary).output().expect("the program runs");
    assert!(
        ran.status.success(),
        "the program ends well: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let (mut held, mut free) = (BTreeSet::new(), BTreeSet::new());
    for line in String::from_utf8_lossy(&ran.stdout).lines() {
        let Some((number, state)) = line.split_once(' ') else {
            continue;
        };
        let Ok(number) = number.parse() else { continue };
        match state {
            "true" => held.insert(number),
            "false" => free.insert(number),
            _ => continue,
        };
    }
    (held, free)
}

/// Lines the lint reports.
fn lint(text: &str, edition: Edition) -> BTreeSet<u32> {
    let sources = OneFile(text.to_owned());
    let krate = CrateInput {
        name: "scopes".into(),
        package: None,
        package_name: "scopes".into(),
        manifest: None,
        target_kind: TargetKind::File,
        root: "scopes.rs".into(),
        edition,
        features: BTreeSet::new(),
        declared_features: BTreeSet::new(),
        dependencies: Vec::new(),
        reported: true,
    };
    let report = check(
        &Input {
            crates: vec![krate],
            sources: &sources,
            cfg: CfgSet::new(),
        },
        &Config::default(),
    );
    let guards = report
        .findings
        .iter()
        .filter(|finding| finding.rule.name().contains("-in-guard"));
    guards.map(|finding| finding.primary.start.line).collect()
}

fn compare(text: &str, edition: Edition) {
    let (held, free) = run(text, edition);
    assert!(
        held.len() > 40 && free.len() > 40,
        "the program says something: {} {}",
        held.len(),
        free.len()
    );
    let found = lint(text, edition);
    let show = |lines: Vec<&u32>| -> String {
        lines
            .iter()
            .map(|line| {
                format!(
                    "{line}: {}\n",
                    text.lines().nth(**line as usize - 1).unwrap_or_default()
                )
            })
            .collect()
    };
    let missed = show(held.difference(&found).filter(|line| **line != 0).collect());
    let wrong = show(
        found
            .intersection(&free)
            .filter(|line| !held.contains(line))
            .collect(),
    );
    if missed.is_empty() && wrong.is_empty() {
        return;
    }
    let kept = std::env::temp_dir().join(format!("vt-lint-scopes-{}.rs", edition.name()));
    std::fs::write(&kept, text).expect("the program is kept");
    panic!(
        "edition {}, {}\nheld, not reported:\n{missed}free, reported:\n{wrong}",
        edition.name(),
        kept.display()
    );
}

#[test]
fn scopes_are_those_of_edition_2021() {
    compare(&program(Edition::E2021), Edition::E2021);
}

#[test]
fn scopes_are_those_of_edition_2024() {
    compare(&program(Edition::E2024), Edition::E2024);
}

#[test]
fn scopes_of_random_programs_are_those_of_their_edition() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("VT_SCOPES_SEED").unwrap_or(1);
    for seed in first..first + number("VT_SCOPES_PROGRAMS").unwrap_or(1) {
        for (edition, chains) in [(Edition::E2021, false), (Edition::E2024, true)] {
            // Each function has a seed of its own.
            compare(&random::program(seed * 1_000, 50, chains), edition);
        }
    }
}
