//! Keeps the findings that changed lines bring in.
//!
//! **Invariant:** git is only asked to name a commit and to print objects. It never compares the working tree
//! itself, because filters, monitors and diff drivers of the checked repository would run then.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::diagnostic::{Finding, Span};
use crate::render::Texts;

/// Why changes since a revision cannot be told.
#[derive(Debug)]
pub(super) enum SinceError {
    NoGit(std::io::Error),
    UnknownRevision { revision: String, cause: String },
    Broken(String),
}

impl fmt::Display for SinceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGit(cause) => write!(f, "--since needs git, which does not start: {cause}"),
            Self::UnknownRevision { revision, cause } => {
                write!(f, "git knows no revision `{revision}`: {cause}")
            }
            Self::Broken(cause) => write!(f, "git's answer is not understood: {cause}"),
        }
    }
}

impl Error for SinceError {}

/// Lines of a file that are new or changed.
type Changed = Vec<RangeInclusive<u32>>;

/// Drops each finding none of whose places (call, guard, chain) lies on a line that differs from `revision`.
pub(super) fn keep_changed(
    revision: &str,
    root: &Path,
    texts: &Texts<'_>,
    findings: &mut Vec<Finding>,
) -> Result<(), SinceError> {
    let commit = rev_parse(
        root,
        &[
            "--verify",
            "--quiet",
            "--end-of-options",
            &format!("{revision}^{{commit}}"),
        ],
    )
    .and_then(|answer| answer.ok_or_else(|| "it is not a commit".to_owned().into()));
    let commit = match commit {
        Ok(commit) => commit,
        Err(Asked::NoGit(error)) => return Err(SinceError::NoGit(error)),
        Err(Asked::Refused(cause)) => {
            return Err(SinceError::UnknownRevision {
                revision: revision.to_owned(),
                cause,
            });
        }
    };
    let prefix = match rev_parse(root, &["--show-prefix"]) {
        Ok(prefix) => prefix.unwrap_or_default(),
        Err(Asked::NoGit(error)) => return Err(SinceError::NoGit(error)),
        Err(Asked::Refused(cause)) => return Err(SinceError::Broken(cause)),
    };
    let mut old = Objects::open(root)?;
    let mut changed: HashMap<Arc<str>, Changed> = HashMap::new();
    for finding in findings.iter() {
        for span in places(finding) {
            if !changed.contains_key(&span.file) {
                let before = old.read(&format!("{commit}:{prefix}{}", span.file))?;
                let now = texts.of(&span.file);
                changed.insert(
                    Arc::clone(&span.file),
                    changed_lines(before.as_deref(), &now),
                );
            }
        }
    }
    findings.retain(|finding| {
        places(finding).any(|span| {
            changed[&span.file]
                .iter()
                .any(|lines| *lines.start() <= span.end.line && span.start.line <= *lines.end())
        })
    });
    Ok(())
}

fn places(finding: &Finding) -> impl Iterator<Item = &Span> {
    let labels = finding
        .guard
        .iter()
        .chain(&finding.chain)
        .map(|label| &label.span);
    std::iter::once(&finding.primary).chain(labels)
}

fn changed_lines(before: Option<&str>, now: &str) -> Changed {
    let Some(before) = before else {
        return vec![1..=u32::MAX];
    };
    let before: Vec<&str> = before.lines().collect();
    let now: Vec<&str> = now.lines().collect();
    let operations = capture_diff_slices(Algorithm::Myers, &before, &now);
    let line = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    operations
        .into_iter()
        .filter(|operation| !matches!(operation, DiffOp::Equal { .. } | DiffOp::Delete { .. }))
        .map(|operation| {
            let range = operation.new_range();
            line(range.start + 1)..=line(range.end)
        })
        .collect()
}

/// How asking git went wrong.
enum Asked {
    NoGit(std::io::Error),
    Refused(String),
}

impl From<String> for Asked {
    fn from(cause: String) -> Self {
        Self::Refused(cause)
    }
}

/// Git without pagers, monitors, hooks and fetching.
fn git(root: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("--no-pager")
        .args([
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "protocol.allow=never",
        ])
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .current_dir(root);
    git
}

/// Gives git's answer, `None` when it has none.
fn rev_parse(root: &Path, arguments: &[&str]) -> Result<Option<String>, Asked> {
    let output = git(root)
        .arg("rev-parse")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(Asked::NoGit)?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let words = words
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("fatal: ")
            .to_owned();
        return if words.is_empty() {
            Ok(None)
        } else {
            Err(Asked::Refused(words))
        };
    }
    Ok(Some(
        String::from_utf8_lossy(&output.stdout)
            .trim_end_matches('\n')
            .to_owned(),
    ))
}

/// One `git cat-file` that prints object after object.
struct Objects {
    child: std::process::Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Objects {
    fn open(root: &Path) -> Result<Self, SinceError> {
        let mut child = git(root)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(SinceError::NoGit)?;
        let answers = child
            .stdout
            .take()
            .ok_or_else(|| SinceError::Broken("it has no output".to_owned()))?;
        Ok(Self {
            child,
            answers: BufReader::new(answers),
        })
    }

    /// The text of `name` (`commit:path`), or `None` when there is no such file in that commit.
    fn read(&mut self, name: &str) -> Result<Option<String>, SinceError> {
        // The protocol is a line each; a path with a line break in it cannot be asked for.
        if name.contains('\n') {
            return Ok(None);
        }
        let broken = |error: std::io::Error| SinceError::Broken(error.to_string());
        let input = self
            .child
            .stdin
            .as_mut()
            .ok_or_else(|| SinceError::Broken("it has no input".to_owned()))?;
        writeln!(input, "{name}")
            .and_then(|()| input.flush())
            .map_err(broken)?;
        let mut header = String::new();
        self.answers.read_line(&mut header).map_err(broken)?;
        let mut words = header.trim_end().rsplit(' ');
        let (size, kind) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let Ok(size) = size.parse::<usize>() else {
            return Ok(None);
        };
        // A line feed follows the object.
        let mut bytes = vec![0; size + 1];
        self.answers.read_exact(&mut bytes).map_err(broken)?;
        bytes.pop();
        Ok((kind == "blob").then(|| String::from_utf8_lossy(&bytes).into_owned()))
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Closing its input ends it; waiting keeps no zombie behind.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
