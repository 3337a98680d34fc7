//! One run: from an [`Input`] to a [`Report`], the same for every thread count and every run.

use serde::{Deserialize, Serialize};

mod analysis;
mod locks;

use crate::config::Config;
use crate::diagnostic::{Finding, Level, RuleId, Span};
use crate::input::Input;
use crate::rules::hygiene::suppression;

/// Analyses all crates of `input`.
///
/// The same input and configuration give the same report, however many threads rayon's current pool
/// has. Broken files become findings; nothing makes the run fail.
pub fn check(input: &Input<'_>, config: &Config) -> Report {
    let analysis = analysis::run(input, config);
    let findings = suppression::apply(analysis.findings, &analysis.suppressions, config);
    let mut files = analysis.files;
    files.sort();
    Report {
        findings: finish(findings, input, config),
        files,
        statistics: analysis.statistics,
    }
}

/// Sets the levels of this run, drops what is allowed, excluded or in a crate that is only looked through, sorts, and keeps one finding a place and rule.
fn finish(mut findings: Vec<Finding>, input: &Input<'_>, config: &Config) -> Vec<Finding> {
    findings.retain_mut(|finding| {
        finding.level = config
            .configured_level(finding.rule)
            .unwrap_or(finding.level);
        finding.level != Level::Allow
            && input.crates[finding.crate_index].reported
            && !config.is_excluded(&finding.primary.file)
    });
    findings.sort_by(|a, b| key(a).cmp(&key(b)));
    findings.dedup_by(|later, earlier| {
        later.rule == earlier.rule
            && later.primary == earlier.primary
            && later.message == earlier.message
    });
    findings
}

fn key(finding: &Finding) -> (&Span, RuleId, &str, usize, Option<&Span>) {
    (
        &finding.primary,
        finding.rule,
        &finding.message,
        finding.crate_index,
        finding.chain.first().map(|first| &first.span),
    )
}

/// What [`check`](crate::check) returns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Findings at `warn` and `deny`, sorted by path, line and column.
    pub findings: Vec<Finding>,
    /// Every file that was looked at or passed over, sorted by path.
    pub files: Vec<FileSummary>,
    /// Sizes of what was analysed.
    pub statistics: Statistics,
}

impl Report {
    /// Whether a finding at `deny` is among them.
    pub fn is_denied(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.level == Level::Deny)
    }
}

/// One file of the run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileSummary {
    /// The path as findings show it.
    pub path: String,
    /// The first crate that contains it, as an index into [`Input::crates`](crate::Input::crates).
    pub crate_index: usize,
    /// Its length in lines, 0 when it was not read.
    pub lines: usize,
    /// What became of it.
    pub status: FileStatus,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FileStatus {
    /// It was analysed.
    Analysed,
    /// It was left out on purpose, for this reason (`marked as generated`).
    Skipped(String),
    /// It could not be read or parsed, for this reason; there is a finding about it.
    Broken(String),
}

/// Sizes of what was analysed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Crates.
    pub crates: usize,
    /// Files analysed.
    pub files: usize,
    /// Lines in them.
    pub lines: usize,
    /// Functions, methods and closures with a body.
    pub functions: usize,
    /// Calls in them, and how many were resolved to a known callee.
    pub calls: usize,
    /// See `calls`.
    pub resolved_calls: usize,
    /// Guards that were followed.
    pub guards: usize,
}
