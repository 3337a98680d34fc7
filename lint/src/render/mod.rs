//! How a report looks: one file a format.
//!
//! The only modules that format findings. All read the same plain data, so every format says the same; none reads
//! the disk except through the texts it is given.

mod fingerprint;
mod github;
mod human;
mod json;
mod sarif;
mod short;
mod texts;

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use crate::check::Report;
use crate::diagnostic::{Finding, Level};
use crate::input::CrateInput;
use crate::rules::carrier::heavy_thread_local;

pub use fingerprint::Fingerprints;
pub use human::Style;
pub use texts::Texts;

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people: the source, the guard, the call, why and what to do.
    Human,
    /// One line a finding.
    Short,
    /// Cargo's compiler messages, one JSON object a line.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
}

/// A report with what is needed to show it.
pub struct View<'a> {
    /// The report.
    pub report: &'a Report,
    /// The crates of the run.
    pub crates: &'a [CrateInput],
    /// The sources that findings point into.
    pub texts: &'a Texts<'a>,
    /// The directory that paths are relative to.
    pub root: &'a Path,
    /// The findings' names.
    pub fingerprints: &'a Fingerprints,
    /// For each finding what recordings have seen there; empty when there is no recording.
    pub seen: &'a [Option<Seen>],
}

/// What recordings have seen at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Pinned waits.
    pub count: usize,
    /// Their time in all.
    pub pinned: Duration,
    /// The longest.
    pub longest: Duration,
    /// How long other virtual threads waited for the carriers meanwhile, in all: a lower bound.
    pub stranded: Duration,
}

/// Writes the findings of `view`.
///
/// # Errors
/// When `out` fails.
pub fn render(
    format: Format,
    view: &View<'_>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Human => human::render(view, style, out),
        Format::Short => short::render(view, out),
        Format::Json => json::render(view, out),
        Format::Sarif => sarif::render(view, out),
        Format::Github => github::render(view, out),
    }
}

/// The compiler's word for the level, which editors and services know.
fn severity(level: Level) -> &'static str {
    match level {
        Level::Deny => "error",
        Level::Warn | Level::Allow => "warning",
    }
}

/// Where the guard and the calls of a chain stand, for formats with one line a finding.
fn places(finding: &Finding) -> String {
    let mut text = String::new();
    if let Some(guard) = &finding.guard {
        text.push_str(&format!(
            "; guard taken at {}:{}",
            guard.span.file, guard.span.start.line
        ));
    }
    if let Some(last) = finding.chain.last() {
        let does = if finding.rule == heavy_thread_local::RULE.id {
            "used"
        } else {
            "blocks"
        };
        text.push_str(&format!(
            "; {does} at {}:{}",
            last.span.file, last.span.start.line
        ));
    }
    text
}
