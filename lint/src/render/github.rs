//! Workflow commands that GitHub Actions turns into annotations of a pull request.

use std::io::{self, Write};

use super::{View, places, severity};

pub(super) fn render(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in &view.report.findings {
        let (start, end) = (finding.primary.start, finding.primary.end);
        let cure = finding
            .help
            .first()
            .map(|help| format!("\n{help}"))
            .unwrap_or_default();
        // Columns count only for places on one line.
        let columns = if start.line == end.line {
            format!(",col={},endColumn={}", start.column, end.column)
        } else {
            String::new()
        };
        writeln!(
            out,
            "::{} file={},line={},endLine={}{columns},title={}::{}",
            severity(finding.level),
            property(&finding.primary.file),
            start.line,
            end.line,
            property(&format!("vt-lint {}", finding.rule)),
            data(&format!("{}{}{cure}", finding.message, places(finding)))
        )?;
    }
    Ok(())
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a property of a command, which ends at a comma or colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
