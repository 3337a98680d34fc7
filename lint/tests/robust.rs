//! Whatever the source is, the lint ends, with findings or with `unparsed-source`.
//!
//! Real sources (the lint's own) are mutated from a seed; `VT_FUZZ_SECONDS` says for how long, a second and a half by
//! default. A failure names the seed, which `VT_FUZZ_SEED` repeats. A run that hangs is ended by a watchdog.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use vt_lint::{
    CfgSet, Config, CrateInput, Edition, Input, Report, SourceError, Sources, TargetKind, check,
};

struct OneFile(Arc<str>);

impl Sources for OneFile {
    fn read(&self, _: &Path) -> Result<Arc<str>, SourceError> {
        Ok(Arc::clone(&self.0))
    }

    fn exists(&self, _: &Path) -> bool {
        false
    }

    fn display(&self, path: &Path) -> String {
        path.display().to_string()
    }
}

fn lint(text: &str) -> Report {
    let krate = CrateInput {
        name: "source".into(),
        package: None,
        package_name: "source".into(),
        manifest: None,
        target_kind: TargetKind::File,
        root: "source.rs".into(),
        edition: Edition::E2024,
        features: BTreeSet::new(),
        declared_features: BTreeSet::new(),
        dependencies: Vec::new(),
        reported: true,
    };
    let input = Input {
        crates: vec![krate],
        sources: &OneFile(text.into()),
        cfg: CfgSet::new(),
    };
    check(&input, &Config::default())
}

fn rules(text: &str) -> Vec<String> {
    let report = lint(text);
    let names = report.findings.iter().map(|finding| finding.rule.name());
    names.map(str::to_owned).collect()
}

/// Ends the process when the returned value is still alive after the time.
fn watchdog(seconds: u64) -> Sender<()> {
    let (alive, gone) = channel();
    let watch = move || {
        let waited = gone.recv_timeout(Duration::from_secs(seconds));
        if waited == Err(RecvTimeoutError::Timeout) {
            eprintln!("the lint does not end");
            std::process::abort();
        }
    };
    std::thread::Builder::new()
        .name("watchdog".to_owned())
        .spawn(watch)
        .expect("a watchdog starts");
    alive
}

/// A xorshift generator: enough to pick places.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    fn of<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.below(list.len())]
    }

    /// A place between two words, so that most mutants still are made of whole tokens.
    fn place(&mut self, text: &str) -> usize {
        let start = self.below(text.len() + 1);
        let found = text
            .char_indices()
            .map(|(at, _)| at)
            .find(|at| *at >= start && !text[*at..].starts_with(|c: char| c.is_alphanumeric()));
        found.unwrap_or(text.len())
    }
}

const PIECES: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    "::",
    ".lock()",
    ".unwrap()",
    "?",
    ".await",
    " loop { ",
    " match x { _ => ",
    " if let Some(x) = ",
    " else ",
    " break 'a ",
    " return ",
    "&mut ",
    " |x| ",
    " async move { ",
    " let g = m.lock().unwrap(); ",
    " drop(g); ",
    " = g;",
    "macro_rules! a { ($($x:tt)*) => { a!($($x)*) } }",
    " a!(b) ",
    " impl<T> Deref for T { type Target = T; } ",
    " type A = A; ",
    " use self::*; ",
    " use crate::a as a; ",
    " mod a { pub use super::*; } ",
    " fn f() { f() } ",
    " trait T: T {} ",
    " struct S(S); ",
    " #[cfg(any())] ",
    "\"",
    "'",
];

fn mutated(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(6) {
        let (a, b) = (random.place(&text), random.place(&text));
        let (start, end) = (a.min(b), a.max(b).min(a.min(b) + 4000));
        let end = (start..=end).rev().find(|at| text.is_char_boundary(*at));
        let end = end.unwrap_or(start);
        match random.below(4) {
            0 => text.replace_range(start..end, ""),
            1 => text.insert_str(start, random.of(&PIECES)),
            2 => {
                let copied = text[start..end].to_owned();
                let to = random.place(&text);
                text.insert_str(to, &copied);
            }
            _ => text.truncate(end),
        }
    }
    text
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn mutated_sources_end_with_a_report() {
    let seconds = number("VT_FUZZ_SECONDS");
    let _alive = watchdog(seconds.unwrap_or(2) + 120);
    let end = Instant::now() + seconds.map_or(Duration::from_millis(1500), Duration::from_secs);
    let mut paths = Vec::new();
    for folder in ["src", "tests/ui", "tests/scopes"] {
        sources(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut paths,
        );
    }
    paths.sort();
    let mut seed = number("VT_FUZZ_SEED").unwrap_or(0x5eed);
    loop {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let path = &paths[random.below(paths.len())];
        let text = std::fs::read_to_string(path).expect("a source is text");
        let text = mutated(&text, &mut random);
        let ended = std::panic::catch_unwind(|| lint(&text));
        assert!(ended.is_ok(), "VT_FUZZ_SEED={seed} panics ({path:?})");
        if Instant::now() > end {
            break;
        }
        seed = seed.wrapping_add(1);
    }
}

#[test]
fn long_chains_are_analysed() {
    let _alive = watchdog(120);
    let lock = "let g = m.lock().unwrap(); std::thread::sleep(d);";
    let text = format!(
        "use std::sync::Mutex;\nfn f(b: B) {{ b{}; }}\nfn n() -> usize {{ 1{} }}\nfn h(m: &Mutex<u8>) {{ {lock} }}\n",
        ".set(1)".repeat(20_000),
        " + 1".repeat(20_000),
    );
    assert_eq!(rules(&text), ["blocking-in-guard"]);
}

#[test]
fn what_nests_too_deeply_is_one_finding() {
    let _alive = watchdog(120);
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("[", "]"),
        ("!", ""),
        ("&", ""),
        ("if x {} else ", ""),
        ("|| ", ""),
    ] {
        let text = format!(
            "fn f() {{ {}1{} }}",
            open.repeat(10_000),
            close.repeat(10_000)
        );
        assert_eq!(rules(&text), ["unparsed-source"], "{open}");
    }
}

#[test]
fn brackets_in_text_do_not_nest() {
    let text = format!(
        "// {}\nfn f() {{ {} }}",
        "(".repeat(2_000),
        "g(\"(\"); g('{'); g(r\"[\"); /* { */ ".repeat(2_000)
    );
    assert!(rules(&text).is_empty());
}

#[test]
fn a_hundred_thousand_lines_are_one_file() {
    let _alive = watchdog(120);
    let function = "fn f(m: &std::sync::Mutex<u8>) {\n    let g = m.lock().unwrap();\n    drop(g);\n    std::thread::sleep(d);\n}\n";
    let mut text = function.repeat(20_000);
    text.push_str("fn g(m: &std::sync::Mutex<u8>) {\n    let g = m.lock().unwrap();\n    std::thread::sleep(d);\n}\n");
    assert_eq!(rules(&text), ["blocking-in-guard"]);
}

#[test]
fn calls_may_be_chained_through_thousands_of_functions() {
    let _alive = watchdog(120);
    let mut text = String::from("fn f0() { std::thread::sleep(d) }\n");
    for number in 1..3_000 {
        text.push_str(&format!("fn f{number}() {{ f{}() }}\n", number - 1));
    }
    text.push_str(
        "fn g(m: &std::sync::Mutex<u8>) { let g = m.lock().unwrap(); f2999(); drop(g); }\n",
    );
    assert_eq!(rules(&text), ["blocking-in-guard-indirect"]);
}
