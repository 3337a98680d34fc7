//! Fixtures: `ui/<rule>/*.rs` hold good and bad code, and each line marked `//~ rule` must be reported by that rule.
//! A line without a mark must not be reported at all. `fixtures/virtual-threads/` holds whole programs in the same form
//! (`//? rule` is allowed and not required), each without a finding beside one with; `index.tsv` lists them, and
//! `tests/repairs.rs` compiles them against the runtime.

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
    marks(text, "//~ ")
}

fn marks(text: &str, mark: &str) -> BTreeSet<(u32, String)> {
    let marks = text.lines().zip(1..).flat_map(|(line, number)| {
        line.split(mark)
            .skip(1)
            .filter_map(move |mark| Some((number, mark.split_whitespace().next()?.to_owned())))
    });
    marks.collect()
}

fn reported(rule: &str, text: &str) -> BTreeSet<(u32, String)> {
    let mut config = Config::default();
    let row = rules::find(rule).expect("a folder has the name of a rule");
    if row.level == Level::Allow {
        config.set_level(row.id, Level::Warn);
    }
    found(text, &config)
}

fn found(text: &str, config: &Config) -> BTreeSet<(u32, String)> {
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
    let sources = Fixture(text.to_owned());
    let report = check(
        &Input {
            crates: vec![krate],
            sources: &sources,
            cfg: CfgSet::new(),
        },
        config,
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

#[test]
fn programs_with_virtual_threads_are_judged_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/virtual-threads");
    let index = std::fs::read_to_string(folder.join("index.tsv")).expect("the index");
    let mut clean = 0;
    for row in index.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let text = std::fs::read_to_string(folder.join(fields[0])).expect("a listed program");
        let (required, allowed) = (marked(&text), marks(&text, "//? "));
        let reported = found(&text, &Config::default());
        let missed: Vec<_> = required.difference(&reported).collect();
        let is_allowed = |line: u32| allowed.iter().any(|(of, _)| *of == line);
        let wrong: Vec<_> = reported
            .difference(&required)
            .filter(|(line, _)| !is_allowed(*line))
            .collect();
        assert!(
            missed.is_empty() && wrong.is_empty(),
            "{}: missed {missed:?}, wrong {wrong:?}",
            fields[0]
        );
        assert_eq!(fields[3], required.len().to_string(), "{}", fields[0]);
        clean += usize::from(required.is_empty());
    }
    let all = index.lines().count() - 1;
    let files = std::fs::read_dir(&folder).expect("the folder").count() - 1;
    assert_eq!(files, all, "every program is listed");
    assert!(all >= 20 && clean * 2 >= all, "{clean} of {all} are clean");
}
