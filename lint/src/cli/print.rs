//! What is printed: the findings to standard output, what was looked at to standard error.

use std::io::{self, IsTerminal as _, Write};

use super::args::{Args, MessageFormat};
use super::manual;
use super::run::Stop;
use crate::check::Report;
use crate::diagnostic::Level;
use crate::render::{Style, View, render};

pub(super) fn print(view: &View<'_>, args: &Args, out: &mut dyn Write) -> Result<(), Stop> {
    render(args.message_format.format(), view, style(args), out)?;
    if is_for_people(args) {
        if args.show_files {
            manual::files(&view.report.files, out)?;
        }
        if args.statistics {
            manual::statistics(view.report, out)?;
        }
    }
    Ok(())
}

/// Whether more than findings may be printed: listings would break the formats that programs read.
pub(super) fn is_for_people(args: &Args) -> bool {
    matches!(
        args.message_format,
        MessageFormat::Human | MessageFormat::Short
    )
}

fn style(args: &Args) -> Style {
    let is_terminal = io::stdout().is_terminal();
    let color = match args.color.choice() {
        anstream::ColorChoice::Auto => {
            anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
        }
        choice => choice != anstream::ColorChoice::Never,
    };
    let known = |name: &str| std::env::var_os(name).is_some();
    let links = [
        "VTE_VERSION",
        "WT_SESSION",
        "KITTY_WINDOW_ID",
        "WEZTERM_PANE",
        "TERM_PROGRAM",
    ];
    Style {
        color,
        links: color && is_terminal && links.into_iter().any(known),
        width: if is_terminal { 140 } else { 0 },
    }
}

pub(super) fn summarise(report: &Report, args: &Args, err: &mut dyn Write) -> Result<(), Stop> {
    if args.quiet > 0 {
        return Ok(());
    }
    let denied = report
        .findings
        .iter()
        .filter(|finding| finding.level == Level::Deny)
        .count();
    let warned = report.findings.len() - denied;
    let looked_at = format!(
        "{} in {}",
        counted(report.statistics.lines, "line"),
        counted(report.statistics.files, "file")
    );
    match (denied, warned) {
        (0, 0) => writeln!(err, "no findings ({looked_at})")?,
        _ => writeln!(
            err,
            "{}, {} ({looked_at})",
            counted(denied, "error"),
            counted(warned, "warning")
        )?,
    }
    Ok(())
}

/// `1 file`, `2 files`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
