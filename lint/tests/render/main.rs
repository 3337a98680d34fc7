//! Every output format over the same hand-made findings: one direct, one through a chain in another file, one with a
//! repair, one with nothing but a place.

mod schema;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vt_lint::render::{Fingerprints, Format, Style, Texts, View, render};
use vt_lint::{
    CrateInput, Edit, Edition, Finding, Fix, Label, Level, Position, Report, RuleId, SourceError,
    Sources, Span, TargetKind,
};

const CACHE: &str = "\
use std::sync::Mutex;

impl Cache {
    fn refresh(&self) {
        let mut entries = self.entries.lock().unwrap();
        std::thread::sleep(self.pause);
        self.store(&entries);
        let größe = self.entries.lock().unwrap().len(); std::fs::write(\"größe\", größe).unwrap();
    }
}
";

const DISK: &str = "\
pub fn store(entries: &Entries) {
    sync_all(entries);
}

fn sync_all(entries: &Entries) {
    File::create(\"entries\").unwrap().sync_all().unwrap();
}
";

/// Files by path below `/shop`.
struct Files(HashMap<PathBuf, &'static str>);

impl Sources for Files {
    fn read(&self, path: &Path) -> Result<Arc<str>, SourceError> {
        let missing = || SourceError::Unreadable("no such file".to_owned());
        self.0
            .get(path)
            .map(|text| Arc::from(*text))
            .ok_or_else(missing)
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    fn display(&self, path: &Path) -> String {
        path.strip_prefix("/shop")
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

/// The `count`-th place of `needle` in a file.
fn span(file: &str, text: &str, needle: &str, count: usize) -> Span {
    let start = text
        .match_indices(needle)
        .nth(count)
        .expect("the needle is there")
        .0;
    let position = |byte: usize| {
        let line = text[..byte].rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: u32::try_from(text[..byte].matches('\n').count() + 1).expect("small"),
            column: u32::try_from(text[line..byte].chars().count() + 1).expect("small"),
            byte: u32::try_from(byte).expect("small"),
        }
    };
    Span {
        file: file.into(),
        start: position(start),
        end: position(start + needle.len()),
    }
}

fn cache(needle: &str, count: usize) -> Span {
    span("src/cache.rs", CACHE, needle, count)
}

fn disk(needle: &str, count: usize) -> Span {
    span("src/disk.rs", DISK, needle, count)
}

fn label(span: Span, text: &str) -> Label {
    Label {
        span,
        text: text.to_owned(),
    }
}

fn finding(
    rule: &'static str,
    level: Level,
    message: &str,
    primary: Span,
    primary_label: &str,
) -> Finding {
    Finding {
        rule: RuleId::new(rule),
        level,
        message: message.to_owned(),
        primary,
        primary_label: primary_label.to_owned(),
        guard: Some(label(
            cache("self.entries.lock().unwrap()", 0),
            "the guard is taken here and lives to the end of the block",
        )),
        chain: Vec::new(),
        notes: vec!["whoever wants `Cache.entries` waits as long".to_owned()],
        help: vec!["copy what is needed and drop the guard first".to_owned()],
        lock: Some("Cache.entries".to_owned()),
        function: Some("Cache::refresh".to_owned()),
        crate_index: 0,
        fix: None,
    }
}

fn findings() -> Vec<Finding> {
    let direct = finding(
        "blocking-in-guard",
        Level::Deny,
        "`thread::sleep` under the guard of `Cache.entries`",
        cache("std::thread::sleep", 0),
        "sleeps here",
    );
    let mut chained = finding(
        "blocking-in-guard-indirect",
        Level::Deny,
        "`store` blocks under the guard of `Cache.entries`",
        cache("store", 0),
        "blocks in here",
    );
    chained.chain = vec![
        label(disk("sync_all(entries)", 0), "`store` calls `sync_all`"),
        label(disk("sync_all()", 0), "`sync_all` waits for the disk"),
    ];
    let mut repaired = finding(
        "blocking-in-guard",
        Level::Warn,
        "`fs::write` under the guard of `Cache.entries`",
        cache("std::fs::write", 0),
        "writes a file here",
    );
    let place = cache("self.entries.lock().unwrap().len()", 0);
    repaired.fix = Some(Fix {
        message: "bind the length first, so that the guard ends".to_owned(),
        edits: vec![Edit {
            span: place,
            replacement: "self.len()".to_owned(),
        }],
    });
    let mut bare = finding(
        "unparsed-source",
        Level::Warn,
        "50% of `src/a,b.rs`: does not parse",
        disk("", 0),
        "nothing in this file was checked",
    );
    bare.guard = None;
    bare.lock = None;
    bare.function = None;
    bare.notes.clear();
    bare.help.clear();
    vec![direct, chained, repaired, bare]
}

fn crates() -> Vec<CrateInput> {
    vec![CrateInput {
        name: "shop".to_owned(),
        package: Some("path+file:///shop#0.1.0".to_owned()),
        package_name: "shop".to_owned(),
        manifest: Some(PathBuf::from("/shop/Cargo.toml")),
        target_kind: TargetKind::Lib,
        root: PathBuf::from("/shop/src/lib.rs"),
        edition: Edition::E2024,
        features: BTreeSet::new(),
        declared_features: BTreeSet::new(),
        dependencies: Vec::new(),
        reported: true,
    }]
}

fn files() -> Files {
    Files(HashMap::from([
        (PathBuf::from("/shop/src/cache.rs"), CACHE),
        (PathBuf::from("/shop/src/disk.rs"), DISK),
    ]))
}

fn rendered(format: Format, style: Style) -> String {
    let files = files();
    let texts = Texts::new(&files, PathBuf::from("/shop"));
    let report = Report {
        findings: findings(),
        ..Report::default()
    };
    let crates = crates();
    let view = View {
        report: &report,
        crates: &crates,
        texts: &texts,
        root: Path::new("/shop"),
        fingerprints: &Fingerprints::new(&report.findings, &texts),
        seen: &[],
    };
    let mut out = Vec::new();
    render(format, &view, style, &mut out).expect("writing to memory");
    String::from_utf8(out).expect("text")
}

#[test]
fn human() {
    insta::assert_snapshot!("human", rendered(Format::Human, Style::default()));
}

#[test]
fn short() {
    insta::assert_snapshot!("short", rendered(Format::Short, Style::default()));
}

#[test]
fn github() {
    insta::assert_snapshot!("github", rendered(Format::Github, Style::default()));
}

#[test]
fn json() {
    let pretty = rendered(Format::Json, Style::default())
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).expect("one object a line");
            serde_json::to_string_pretty(&value).expect("valid")
        })
        .collect::<Vec<String>>()
        .join("\n");
    insta::assert_snapshot!("json", pretty);
}

#[test]
fn sarif() {
    let text = rendered(Format::Sarif, Style::default());
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("one object");
    // The rules' manuals are tested elsewhere and would make this snapshot change with every word of them.
    value["runs"][0]["tool"]["driver"]["rules"].take();
    value["runs"][0]["tool"]["driver"]["semanticVersion"].take();
    for result in value["runs"][0]["results"].as_array_mut().expect("results") {
        let index = result["ruleIndex"].take();
        let index = usize::try_from(index.as_u64().expect("a known rule")).expect("small");
        assert_eq!(vt_lint::rules::TABLE[index].id.name(), result["ruleId"]);
    }
    insta::assert_snapshot!(
        "sarif",
        serde_json::to_string_pretty(&value).expect("valid")
    );
}

#[test]
fn sarif_fits_its_schema() {
    let schema = serde_json::from_str(include_str!("sarif.schema.json")).expect("valid");
    let mut value: serde_json::Value =
        serde_json::from_str(&rendered(Format::Sarif, Style::default())).expect("one object");
    assert_eq!(schema::violations(&schema, &value), Vec::<String>::new());
    value["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] =
        0.into();
    value["runs"][0]["results"][1]["levle"] = "error".into();
    assert_eq!(schema::violations(&schema, &value).len(), 2);
}

#[test]
fn colours_and_links_only_when_asked_for() {
    let plain = rendered(Format::Human, Style::default());
    assert!(!plain.contains('\x1b'));
    let colored = rendered(
        Format::Human,
        Style {
            color: true,
            links: true,
            width: 0,
        },
    );
    assert!(
        colored.contains("\x1b]8;;file:///shop/src/cache.rs\x1b\\src/cache.rs"),
        "{colored}"
    );
}

/// The fingerprint of each finding.
fn fingerprints(findings: &[Finding], texts: &Texts<'_>) -> Vec<String> {
    let all = Fingerprints::new(findings, texts);
    findings
        .iter()
        .map(|finding| all.of(finding).to_owned())
        .collect()
}

#[test]
fn fingerprints_survive_shifts_and_tell_copies_apart() {
    let before = files();
    let texts = Texts::new(&before, PathBuf::from("/shop"));
    let first = fingerprints(&findings(), &texts);
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), first.len());

    let shifted: &'static str = Box::leak(format!("// moved\n\n{CACHE}").into_boxed_str());
    let after = Files(HashMap::from([(
        PathBuf::from("/shop/src/cache.rs"),
        shifted,
    )]));
    let texts = Texts::new(&after, PathBuf::from("/shop"));
    let mut moved = findings();
    moved[0].primary = span("src/cache.rs", shifted, "std::thread::sleep", 0);
    assert_eq!(fingerprints(&moved, &texts)[0], first[0]);

    let mut copies = vec![moved[0].clone(), moved[0].clone()];
    copies[1].primary.start.byte += 1;
    let copies = fingerprints(&copies, &texts);
    assert_eq!(copies[0], first[0]);
    assert_ne!(copies[1], first[0]);
}
