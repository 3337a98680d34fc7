//! Keeps the findings that changed lines bring in.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::git::{Asked, Objects, rev_parse};
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

/// What changed in a file.
struct Changed {
    /// Lines that are new or changed.
    lines: Vec<RangeInclusive<u32>>,
    /// Behind which lines something is gone that may have ended a guard.
    gone: Vec<u32>,
}

/// Drops each finding none of whose places (call, guard, chain) lies on a line that differs from `revision`, and
/// between whose guard and call nothing is gone that may have ended the guard.
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
    let mut old = Objects::open(root).map_err(broken)?;
    let mut changed: HashMap<Arc<str>, Changed> = HashMap::new();
    for finding in findings.iter() {
        for span in places(finding) {
            if !changed.contains_key(&span.file) {
                let before = old
                    .read(&format!("{commit}:{prefix}{}", span.file))
                    .map_err(broken)?;
                let now = texts.of(&span.file);
                changed.insert(
                    Arc::clone(&span.file),
                    changed_lines(before.as_deref(), &now),
                );
            }
        }
    }
    findings.retain(|finding| {
        let is_on_a_changed_line = places(finding).any(|span| {
            changed[&span.file]
                .lines
                .iter()
                .any(|lines| *lines.start() <= span.end.line && span.start.line <= *lines.end())
        });
        let call = &finding.primary;
        let outlives = finding.guard.as_ref().is_some_and(|guard| {
            let between = guard.span.start.line..call.start.line;
            let gone = &changed[&call.file].gone;
            guard.span.file == call.file && gone.iter().any(|line| between.contains(line))
        });
        is_on_a_changed_line || outlives
    });
    Ok(())
}

fn broken(cause: std::io::Error) -> SinceError {
    SinceError::Broken(cause.to_string())
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
    let mut changed = Changed {
        lines: Vec::new(),
        gone: Vec::new(),
    };
    let Some(before) = before else {
        changed.lines.push(1..=u32::MAX);
        return changed;
    };
    let before: Vec<&str> = before.lines().collect();
    let now: Vec<&str> = now.lines().collect();
    let line = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    for operation in capture_diff_slices(Algorithm::Myers, &before, &now) {
        let (old, new) = (operation.old_range(), operation.new_range());
        match operation {
            DiffOp::Equal { .. } => continue,
            DiffOp::Delete { .. } => {}
            DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                changed.lines.push(line(new.start + 1)..=line(new.end));
            }
        }
        if may_end_guards(&before[old]) {
            changed.gone.push(line(new.start));
        }
    }
    changed
}

/// Whether lines drop something by name, or close a block that others opened.
fn may_end_guards(lines: &[&str]) -> bool {
    let count = |brace: char| {
        lines
            .iter()
            .map(|line| line.matches(brace).count())
            .sum::<usize>()
    };
    lines.iter().any(|line| line.contains("drop(")) || count('{') != count('}')
}
