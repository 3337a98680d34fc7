//! Applies the repairs that findings carry.
//!
//! A repair is applied whole or not at all: one whose ranges overlap an earlier one waits for the next run. Files
//! are replaced in one step, so that an interrupted run leaves no half-written source.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use similar::TextDiff;

use super::run::{Stop, counted};
use crate::check::Report;
use crate::diagnostic::{Edit, Fix};
use crate::render::Texts;

/// Applies every repair that does not overlap another, or prints them with `dry_run`. Repaired findings leave the
/// report.
pub(super) fn apply(
    report: &mut Report,
    root: &Path,
    texts: &Texts<'_>,
    dry_run: bool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Stop> {
    let mut by_file: BTreeMap<Arc<str>, Vec<Edit>> = BTreeMap::new();
    let mut applied = vec![false; report.findings.len()];
    for (index, finding) in report.findings.iter().enumerate() {
        if let Some(fix) = &finding.fix
            && fits(fix, &by_file)
        {
            applied[index] = true;
            for edit in &fix.edits {
                let edits = by_file.entry(Arc::clone(&edit.span.file)).or_default();
                // Several findings may ask for the same line, such as one `use`.
                if !edits.contains(edit) {
                    edits.push(edit.clone());
                }
            }
        }
    }
    for (file, mut edits) in by_file {
        edits.sort_by(|a, b| b.span.cmp(&a.span));
        let before = texts.of(&file);
        let mut after = before.to_string();
        for edit in &edits {
            after.replace_range(Texts::range(&before, &edit.span), &edit.replacement);
        }
        if dry_run {
            let diff = TextDiff::from_lines(&*before, &after);
            let names = (format!("a/{file}"), format!("b/{file}"));
            write!(
                out,
                "{}",
                diff.unified_diff()
                    .context_radius(3)
                    .header(&names.0, &names.1)
            )?;
        } else {
            replace(&root.join(&*file), &after)
                .map_err(|error| Stop::Failed(format!("cannot repair `{file}`: {error}")))?;
        }
    }
    let count = applied.iter().filter(|applied| **applied).count();
    writeln!(
        err,
        "{} {}",
        if dry_run { "could repair" } else { "repaired" },
        counted(count, "finding")
    )?;
    if !dry_run {
        let mut applied = applied.into_iter();
        report.findings.retain(|_| !applied.next().unwrap_or(false));
    }
    Ok(())
}

/// Whether no range of `fix` overlaps one that is taken; equal edits share.
fn fits(fix: &Fix, taken: &BTreeMap<Arc<str>, Vec<Edit>>) -> bool {
    fix.edits.iter().all(|edit| {
        taken
            .get(&edit.span.file)
            .into_iter()
            .flatten()
            .all(|other| {
                let (a, b) = (&edit.span, &other.span);
                edit == other
                    || a.end.byte <= b.start.byte && a != b
                    || b.end.byte <= a.start.byte && a != b
            })
    })
}

/// Writes beside the file and renames over it, keeping its permissions.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let path = fs::canonicalize(path)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".vt-lint-new");
    let new = path.with_file_name(name);
    fs::write(&new, text)?;
    let renamed = fs::metadata(&path)
        .and_then(|metadata| fs::set_permissions(&new, metadata.permissions()))
        .and_then(|()| fs::rename(&new, &path));
    if renamed.is_err() {
        // What could not be moved into place must not stay behind; the first error is the one to tell.
        let _ = fs::remove_file(&new);
    }
    renamed
}
