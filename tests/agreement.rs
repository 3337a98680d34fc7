//! Lint and runtime describe the same defect and must agree.
//!
//! Each program is linted and run. Its lines say what is expected of either half: `//~` and then names of rules (the lint
//! must report exactly these there), `pin` (a pinned wait must be reported with that line), `sampled` (the same,
//! seen from outside, where the line is known if the build keeps frame pointers). A program that only one half can see
//! says why, in a line that begins with `Only the lint:` or `Only the runtime:`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use vt_lint::workspace::{self, Request};
use vt_lint::{Edition, Level, check};
use vt_runtime::Runtime;
use vt_runtime::event::{PinSource, Pinned};
use vt_tests::{BACKENDS, Capture, Deadline, runtime};

macro_rules! programs {
    ($($name:ident)+) => {
        mod programs {
            $(pub(crate) mod $name;)+
        }
        /// Every program, by the name of its file.
        const PROGRAMS: &[(&str, fn(&Runtime))] = &[$((stringify!($name), programs::$name::run),)+];
    };
}

programs! {
    acquire_under_monitor contended_enter critical_region guard_dropped_first guard_in_inner_block
    guard_kept_on_one_path helper_sleeps inner_of_two_monitors join_under_monitor leaked_but_dead_code
    monitor_waits_for_itself offloaded_file_work park_safe_monitor park_under_monitor read_under_monitor
    receive_under_monitor reentrant_lock_over_sleep sleep_under_monitor std_receive_on_carrier
    std_sleep_on_carrier temporary_in_match temporary_of_a_statement wait_while_unwinding wait_without_any_lock
}

/// A line, and what is said of it.
type Marks = BTreeSet<(u32, String)>;

/// What the lines of a program ask of either half.
struct Expected {
    rules: Marks,
    pins: BTreeSet<u32>,
    sampled: BTreeSet<u32>,
    text: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

fn expected(name: &str) -> Expected {
    let path = folder().join(format!("{name}.rs"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut expected = Expected {
        rules: Marks::new(),
        pins: BTreeSet::new(),
        sampled: BTreeSet::new(),
        text: text.clone(),
    };
    for (number, line) in (1..).zip(text.lines()) {
        let Some((_, marks)) = line.split_once("//~") else {
            continue;
        };
        for mark in marks.split_whitespace() {
            match mark {
                "pin" => drop(expected.pins.insert(number)),
                "sampled" => drop(expected.sampled.insert(number)),
                rule => drop(expected.rules.insert((number, rule.to_owned()))),
            }
        }
    }
    expected
}

/// The lint's findings in one program, by line.
fn linted(name: &str) -> Marks {
    let request = Request {
        files: vec![folder().join(format!("{name}.rs"))],
        edition: Some(Edition::E2024),
        ..Request::default()
    };
    let loaded = workspace::load(&request).expect("a readable program");
    let report = check(&loaded.input(), &loaded.config);
    let found = report
        .findings
        .iter()
        .filter(|finding| finding.level != Level::Allow);
    found
        .map(|finding| (finding.primary.start.line, finding.rule.to_string()))
        .collect()
}

/// The pinned waits of one run.
fn run(program: fn(&Runtime), runtime: &Runtime, capture: &Capture) -> Vec<Pinned> {
    capture.clear();
    program(runtime);
    capture.pinned_or_sampled(runtime)
}

fn line(pin: &Pinned) -> Option<u32> {
    pin.blocked_at.as_ref().map(|place| place.line)
}

#[test]
fn every_program_is_listed() {
    let entries = std::fs::read_dir(folder()).expect("the programs' folder");
    let files: BTreeSet<_> = entries
        .map(|entry| {
            entry
                .expect("readable")
                .path()
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let listed: BTreeSet<_> = PROGRAMS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    assert_eq!(files, listed);
    assert!(listed.len() >= 20);
}

#[test]
fn the_lint_reports_exactly_the_marked_lines() {
    for (name, _) in PROGRAMS {
        assert_eq!(
            linted(name),
            expected(name).rules,
            "{name}: left is found, right is marked"
        );
    }
}

#[test]
fn the_runtime_reports_exactly_the_marked_lines() {
    let _deadline = Deadline::standard();
    for stacks in BACKENDS {
        let (runtime, capture) = runtime(stacks, 2);
        for (name, program) in PROGRAMS {
            let expected = expected(name);
            let pins = run(*program, &runtime, &capture);
            let (sampled, waited): (Vec<_>, Vec<_>) = pins
                .iter()
                .partition(|pin| pin.source == PinSource::Sampled);
            let lines: BTreeSet<_> = waited.iter().filter_map(|pin| line(pin)).collect();
            assert_eq!(
                lines, expected.pins,
                "{name}: left is reported, right is marked: {pins:?}"
            );
            assert_eq!(
                waited.len(),
                expected.pins.len(),
                "{name}: one event for each pinned wait: {pins:?}"
            );
            assert_eq!(sampled.len(), expected.sampled.len(), "{name}: {pins:?}");
            for pin in sampled {
                assert!(
                    line(pin).is_none_or(|line| expected.sampled.contains(&line)),
                    "{name}: {pin:?}"
                );
            }
        }
    }
}

#[test]
fn what_only_one_half_sees_has_a_reason() {
    for (name, _) in PROGRAMS {
        let Expected {
            rules,
            pins,
            sampled,
            text,
        } = expected(name);
        let (by_lint, by_runtime) = (!rules.is_empty(), !pins.is_empty() || !sampled.is_empty());
        let says = |half: &str| {
            text.lines()
                .any(|line| line.starts_with(&format!("//! Only the {half}: ")))
        };
        assert_eq!(says("lint"), by_lint && !by_runtime, "{name}");
        assert_eq!(says("runtime"), by_runtime && !by_lint, "{name}");
    }
}

/// Rules of the design that the lint does not have yet; `lint_allow` accepts them already.
const PLANNED: [&str; 3] = [
    "heavy_thread_local",
    "pooled_virtual_threads",
    "unbounded_fanout",
];

/// `#[lint_allow]` must accept every rule of the lint: the macro cannot depend on it, so the names stand in both.
#[test]
fn the_attribute_knows_every_rule_of_the_lint() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../macros/src/lint_allow.rs");
    let text = std::fs::read_to_string(source).expect("part of the sources");
    let list = text
        .split("const RULES: &[&str] = &[")
        .nth(1)
        .expect("the list");
    let list = list.split("];").next().unwrap_or_default();
    let accepted: BTreeSet<String> = list
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    let known = vt_lint::rules::TABLE
        .iter()
        .map(|rule| rule.id.to_string().replace('-', "_"));
    let expected: BTreeSet<String> = known.chain(PLANNED.map(str::to_owned)).collect();
    assert_eq!(
        accepted, expected,
        "left: the macro's list; right: the lint's table"
    );
}
