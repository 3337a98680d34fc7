//! The repository's own rules, checked: rules nobody checks are wishes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Code lines a file may have; a line is code if it is neither blank nor a comment.
const MOST_CODE_LINES: usize = 400;
/// Entries a folder of sources may have.
const MOST_ENTRIES: usize = 15;
/// Lines the README may have.
const MOST_README_LINES: usize = 200;

const PACKAGES: [&str; 5] = ["runtime", "macros", "lint", "flight-recorder", "tests"];
/// Folders of inputs for tests: written to be wrong, to be measured, or one file for each case.
const FIXTURES: [&str; 8] = [
    "ui",
    "fixtures",
    "programs",
    "workspaces",
    "golden",
    "snapshots",
    "target",
    "knowledge",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All files below the packages with that ending, relative to the root.
fn files(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for package in PACKAGES {
        walk(&root().join(package), &mut |path| {
            if path
                .extension()
                .is_some_and(|extension| extension == ending)
            {
                found.push(
                    path.strip_prefix(root())
                        .expect("below the root")
                        .to_path_buf(),
                );
            }
        });
    }
    found.sort();
    assert!(!found.is_empty());
    found
}

fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if !path.is_dir() {
            visit(&path);
        } else if !is_fixture(&path) {
            walk(&path, visit);
        }
    }
}

fn is_fixture(folder: &Path) -> bool {
    folder
        .file_name()
        .is_some_and(|name| FIXTURES.iter().any(|fixture| name == *fixture))
}

fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn is_code(line: &&str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//")
}

fn complain(rule: &str, offenders: &[String]) {
    assert!(
        offenders.is_empty(),
        "{rule}:\n  {}",
        offenders.join("\n  ")
    );
}

#[test]
fn every_file_says_what_it_is() {
    let opens = |path: &&PathBuf| {
        let text = read(path);
        let first = text.lines().next().unwrap_or_default();
        first.starts_with("//!") || first.starts_with("#![doc = include_str!")
    };
    let offenders: Vec<_> = files("rs")
        .iter()
        .filter(|path| !opens(path))
        .map(|path| path.display().to_string())
        .collect();
    complain("these files do not open with `//!`", &offenders);
}

#[test]
fn no_file_is_too_long() {
    let count = |path: &PathBuf| {
        (
            read(path).lines().filter(is_code).count(),
            path.display().to_string(),
        )
    };
    let offenders: Vec<_> = files("rs")
        .iter()
        .map(count)
        .filter(|(lines, _)| *lines > MOST_CODE_LINES)
        .map(|(lines, path)| format!("{path}: {lines} code lines"))
        .collect();
    complain("split these files by idea", &offenders);
}

#[test]
fn no_folder_is_too_full() {
    let mut folders = BTreeSet::new();
    for file in files("rs") {
        folders.extend(
            file.ancestors()
                .skip(1)
                .filter(|folder| !folder.as_os_str().is_empty())
                .map(Path::to_path_buf),
        );
    }
    let entries = |folder: &PathBuf| {
        fs::read_dir(root().join(folder))
            .expect("a readable folder")
            .count()
    };
    let offenders: Vec<_> = folders
        .iter()
        .filter(|folder| entries(folder) > MOST_ENTRIES)
        .map(|folder| format!("{}: {} entries", folder.display(), entries(folder)))
        .collect();
    complain("group these folders' files", &offenders);
}

/// `unsafe` stands only where `docs/decisions.md` says that it does, and everything it names exists.
#[test]
fn unsafe_code_is_where_the_decisions_say() {
    let decisions = read(Path::new("docs/decisions.md"));
    let listed: BTreeSet<String> = decisions
        .lines()
        .filter_map(|line| {
            line.strip_prefix("| `")?
                .split_once("` | unsafe: ")
                .map(|(path, _)| path.to_owned())
        })
        .collect();
    // The word occurs only where a file opts out, and here.
    let opts_out = |path: &&PathBuf| read(path).contains("unsafe_code");
    let found: BTreeSet<String> = files("rs")
        .iter()
        .filter(opts_out)
        .map(|path| path.display().to_string())
        .filter(|path| path != "tests/tidy.rs")
        .collect();
    assert_eq!(
        found, listed,
        "left: opts out of `unsafe_code`; right: listed in docs/decisions.md"
    );
}

#[test]
fn the_readme_is_short_and_its_paths_exist() {
    let readme = read(Path::new("README.md"));
    let lines = readme.lines().count();
    assert!(lines <= MOST_README_LINES, "README.md has {lines} lines");
    let first_code = readme
        .lines()
        .position(|line| line.starts_with("```"))
        .expect("a program");
    assert!(
        first_code < 20,
        "the first program stands at line {}",
        first_code + 1
    );
    let mut missing = Vec::new();
    for quoted in readme.split('`').skip(1).step_by(2) {
        let is_path = PACKAGES
            .iter()
            .chain(&["docs"])
            .any(|top| quoted.starts_with(&format!("{top}/")));
        if is_path && !quoted.contains(' ') && !root().join(quoted).exists() {
            missing.push(quoted.to_owned());
        }
    }
    complain("the README names paths that do not exist", &missing);
}

/// Messages fit after "failed to": lower case, no full stop.
#[test]
fn error_messages_have_one_voice() {
    let mut offenders = Vec::new();
    for path in files("rs") {
        for line in read(&path)
            .lines()
            .filter(|line| line.contains("f.write_str(\""))
        {
            let message = line
                .split("f.write_str(\"")
                .nth(1)
                .and_then(|rest| rest.split("\")").next())
                .unwrap_or("");
            let is_sentence = message.ends_with('.') && !message.ends_with("..");
            if is_sentence {
                offenders.push(format!("{}: {message:?}", path.display()));
            }
        }
    }
    complain("messages end without a full stop", &offenders);
}

#[test]
fn nothing_is_left_unfinished() {
    let marks = [
        ["TO", "DO"].concat(),
        ["FIX", "ME"].concat(),
        ["X", "XX"].concat(),
    ];
    let mut offenders = Vec::new();
    for path in files("rs") {
        for (number, line) in read(&path).lines().enumerate() {
            if marks
                .iter()
                .any(|mark| line.contains(&format!("// {mark}")))
            {
                offenders.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    complain("these lines announce unfinished work", &offenders);
}

/// Functions that users call, of the parts that wait, and whether they may unmount: nobody should have to guess.
#[test]
fn every_function_that_may_wait_says_so() {
    let mut offenders = Vec::new();
    for path in files("rs") {
        let is_meant = ["runtime/src/sync", "runtime/src/task"]
            .iter()
            .any(|folder| path.starts_with(folder));
        if !is_meant || path.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let text = read(&path);
        let mut is_told = false;
        for (number, line) in text.lines().map(str::trim_start).enumerate() {
            let function = ["pub fn ", "pub const fn "]
                .iter()
                .find_map(|start| line.strip_prefix(start));
            match function {
                // What macros name is no API.
                Some(name) if !is_told && !name.starts_with("__") => {
                    offenders.push(format!("{}:{}: {line}", path.display(), number + 1));
                }
                _ => {}
            }
            is_told = line.starts_with("/// # Pinning")
                || is_told && (line.starts_with("///") || line.starts_with("#["));
        }
    }
    complain("these functions have no `# Pinning` section", &offenders);
}
