//! One line a finding, in the form that editors and `grep` know from compilers.

use std::io::{self, Write};

use super::{View, places, severity};

pub(super) fn render(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in &view.report.findings {
        let start = finding.primary.start;
        writeln!(
            out,
            "{}:{}:{}: {}[{}]: {}{}",
            finding.primary.file,
            start.line,
            start.column,
            severity(finding.level),
            finding.rule,
            finding.message,
            places(finding)
        )?;
    }
    Ok(())
}
