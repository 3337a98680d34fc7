//! Fixtures: `ui/<rule>/*.rs` hold good and bad code, and each line marked `//~ rule` must be reported by that rule.
//! A line without a mark must not be reported at all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vt_lint::{
    CfgSet, Config, CrateInput, Edition, Input, Level, SourceError, Sources, TargetKind, check,
    rules,
};

/// One fixture.
struct Fixture(String);

impl Sources for Fixture {
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

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui")
}

fn fixtures(rule: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder().join(rule)) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    found.sort();
    found
}

fn marked(text: &str) -> BTreeSet<(u32, String)> {
    let marks = text.lines().zip(1..).flat_map(|(line, number)| {
        line.split("//~ ")
            .skip(1)
            .filter_map(move |mark| Some((number, mark.split_whitespace().next()?.to_owned())))
    });
    marks.collect()
}

fn reported(rule: &str, text: &str) -> BTreeSet<(u32, String)> {
    let edition = text
        .lines()
        .find_map(|line| line.strip_prefix("// edition: "))
        .and_then(Edition::parse);
    let krate = CrateInput {
        name: "fixture".into(),
        package: None,
        package_name: "fixture".into(),
        manifest: None,
        target_kind: TargetKind::File,
        root: "fixture.rs".into(),
        edition: edition.expect("a fixture names its edition"),
        features: BTreeSet::new(),
        declared_features: BTreeSet::new(),
        dependencies: Vec::new(),
        reported: true,
    };
    let mut config = Config::default();
    let row = rules::find(rule).expect("a folder has the name of a rule");
    if row.level == Level::Allow {
        config.set_level(row.id, Level::Warn);
    }
    let sources = Fixture(text.to_owned());
    let report = check(
        &Input {
            crates: vec![krate],
            sources: &sources,
            cfg: CfgSet::new(),
        },
        &config,
    );
    report
        .findings
        .iter()
        .map(|finding| (finding.primary.start.line, finding.rule.name().to_owned()))
        .collect()
}

#[test]
fn marked_lines_are_reported_and_no_others() {
    for row in rules::TABLE {
        let rule = row.id.name();
        for path in fixtures(rule) {
            let text = std::fs::read_to_string(&path).expect("a fixture is text");
            assert_eq!(reported(rule, &text), marked(&text), "{}", path.display());
        }
    }
}

#[test]
fn every_rule_has_a_fixture_that_it_fires_in() {
    for row in rules::TABLE {
        let rule = row.id.name();
        let fires = fixtures(rule).iter().any(|path| {
            let text = std::fs::read_to_string(path).expect("a fixture is text");
            marked(&text).iter().any(|(_, mark)| mark == rule)
        });
        assert!(fires, "tests/ui/{rule} has no line marked `//~ {rule}`");
    }
}

#[test]
fn every_rule_has_a_manual_with_the_fixed_heads() {
    for row in rules::TABLE {
        let manual = row.manual();
        for head in [
            "What it does",
            "Why",
            "What it cannot see",
            "Example",
            "Use instead",
            "Runtime reason",
        ] {
            assert!(
                manual.contains(&format!("## {head}")),
                "the manual of {} lacks `{head}`",
                row.id
            );
        }
    }
}
