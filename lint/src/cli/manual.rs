//! What the program says about rules, files and sizes.

use std::io::{self, Write};

use super::run::Stop;
use crate::check::{FileStatus, FileSummary, Report};
use crate::config::Config;
use crate::rules;

/// Prints a rule's manual.
pub(super) fn explain(name: &str, out: &mut dyn Write) -> Result<(), Stop> {
    let rule = rules::find(name).ok_or_else(|| {
        Stop::Failed(format!(
            "there is no rule `{name}`; `cargo vt-lint --list-rules` lists the names"
        ))
    })?;
    writeln!(
        out,
        "# {} ({} by default)\n\n{}",
        rule.id,
        rule.level.name(),
        rule.manual()
    )?;
    Ok(())
}

/// Prints all rules with the levels of this run.
pub(super) fn list(config: &Config, out: &mut dyn Write) -> io::Result<()> {
    let width = rules::TABLE
        .iter()
        .map(|rule| rule.id.name().len())
        .max()
        .unwrap_or_default();
    for rule in rules::TABLE {
        writeln!(
            out,
            "{:width$}  {:5}  {}",
            rule.id.name(),
            config.level(rule.id).name(),
            rule.summary
        )?;
    }
    Ok(())
}

/// Prints what became of each file.
pub(super) fn files(files: &[FileSummary], out: &mut dyn Write) -> io::Result<()> {
    for file in files {
        match &file.status {
            FileStatus::Analysed => {
                writeln!(out, "analysed  {} ({} lines)", file.path, file.lines)?
            }
            FileStatus::Skipped(reason) => writeln!(out, "skipped   {}: {reason}", file.path)?,
            FileStatus::Broken(reason) => writeln!(out, "broken    {}: {reason}", file.path)?,
        }
    }
    Ok(())
}

/// Prints sizes and the number of findings of each rule.
pub(super) fn statistics(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let sizes = &report.statistics;
    let rows = [
        ("crates", sizes.crates),
        ("files", sizes.files),
        ("lines", sizes.lines),
        ("functions", sizes.functions),
        ("calls", sizes.calls),
        ("calls resolved", sizes.resolved_calls),
        ("guards", sizes.guards),
    ];
    for (name, count) in rows {
        writeln!(out, "{name:28} {count:>9}")?;
    }
    for rule in rules::TABLE {
        let count = report
            .findings
            .iter()
            .filter(|finding| finding.rule == rule.id)
            .count();
        if count > 0 {
            writeln!(out, "{:28} {count:>9}", rule.id.name())?;
        }
    }
    Ok(())
}
