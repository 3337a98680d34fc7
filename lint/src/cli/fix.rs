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

use super::run::Stop;
use crate::diagnostic::{Edit, Finding, Fix};
use crate::render::Texts;

/// The repairs of a run, by file.
pub(super) struct Repairs {
    by_file: BTreeMap<Arc<str>, Vec<Edit>>,
    /// How many findings they remove.
    pub(super) count: usize,
}

/// Collects every repair that does not overlap another.
pub(super) fn collect(findings: &[Finding]) -> Repairs {
    let mut repairs = Repairs {
        by_file: BTreeMap::new(),
        count: 0,
    };
    for fix in findings.iter().filter_map(|finding| finding.fix.as_ref()) {
        if !fits(fix, &repairs.by_file) {
            continue;
        }
        repairs.count += 1;
        for edit in &fix.edits {
            let edits = repairs
                .by_file
                .entry(Arc::clone(&edit.span.file))
                .or_default();
            // Several findings may ask for the same edit, such as that of one `use`.
            if !edits.contains(edit) {
                edits.push(edit.clone());
            }
        }
    }
    repairs
}

impl Repairs {
    /// Prints what would change.
    pub(super) fn print(&self, texts: &Texts<'_>, out: &mut dyn Write) -> std::io::Result<()> {
        for (file, edits) in &self.by_file {
            let (before, after) = repaired(&texts.of(file), edits);
            let names = (format!("a/{file}"), format!("b/{file}"));
            let diff = TextDiff::from_lines(&*before, &after);
            let mut unified = diff.unified_diff();
            write!(
                out,
                "{}",
                unified.context_radius(3).header(&names.0, &names.1)
            )?;
        }
        Ok(())
    }

    /// Changes the files.
    pub(super) fn apply(&self, root: &Path, texts: &Texts<'_>) -> Result<(), Stop> {
        for (file, edits) in &self.by_file {
            let (_, after) = repaired(&texts.of(file), edits);
            replace(&root.join(&**file), &after)
                .map_err(|error| Stop::Failed(format!("cannot repair `{file}`: {error}")))?;
        }
        Ok(())
    }
}

/// A text before and after its edits.
fn repaired(before: &Arc<str>, edits: &[Edit]) -> (Arc<str>, String) {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by(|a, b| b.span.cmp(&a.span));
    let mut after = before.to_string();
    for edit in edits {
        after.replace_range(Texts::range(before, &edit.span), &edit.replacement);
    }
    (Arc::clone(before), after)
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
    let written = fs::File::create_new(&new).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        // On the disk before it takes the old file's place, or a power cut leaves neither.
        file.sync_all()
    });
    let renamed = written
        .and_then(|()| fs::metadata(&path))
        .and_then(|metadata| fs::set_permissions(&new, metadata.permissions()))
        .and_then(|()| fs::rename(&new, &path));
    if renamed.is_err() {
        // What could not be moved into place must not stay behind; the first error is the one to tell.
        let _ = fs::remove_file(&new);
    }
    renamed
}
