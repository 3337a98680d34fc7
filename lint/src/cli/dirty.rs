//! Whether a repair could be undone: as `cargo fix`, refuses code that is not committed.

use std::path::Path;
use std::sync::Arc;

use super::git::{Asked, Objects, rev_parse};
use super::run::Stop;
use crate::render::Texts;

/// What the user lets pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    /// Changes of any kind.
    pub(super) dirty: bool,
    /// Changes in the index.
    pub(super) staged: bool,
    /// No repository at all.
    pub(super) no_vcs: bool,
}

/// Refuses when one of `files`, which are those of the run, has changes that are not committed.
pub(super) fn refuse(
    root: &Path,
    files: &[Arc<str>],
    texts: &Texts<'_>,
    allowed: Allowed,
) -> Result<(), Stop> {
    let prefix = match rev_parse(root, &["--show-prefix"]) {
        Ok(prefix) => prefix.unwrap_or_default(),
        Err(_) if allowed.no_vcs => return Ok(()),
        Err(Asked::NoGit(cause)) => {
            return Err(Stop::Failed(format!(
                "cannot see whether a repair could be undone, since git does not start: {cause}; \
                 --allow-no-vcs repairs all the same"
            )));
        }
        Err(Asked::Refused(cause)) => {
            return Err(Stop::Failed(format!(
                "this code is under no version control ({cause}), so a repair could not be undone; \
                 --allow-no-vcs repairs all the same"
            )));
        }
    };
    if allowed.dirty {
        return Ok(());
    }
    let mut objects = Objects::open(root).map_err(Stop::failed)?;
    let mut dirty = Vec::new();
    let mut staged = Vec::new();
    for file in files
        .iter()
        .filter(|file| Path::new(&***file).is_relative())
    {
        let mut ask = |of: &str| objects.read(&format!("{of}:{prefix}{file}"));
        let index = ask("").map_err(Stop::failed)?;
        let head = ask("HEAD").map_err(Stop::failed)?;
        let now = texts.of(file);
        if !index.as_ref().is_some_and(|index| is_same(index, &now)) {
            dirty.push(&**file);
        } else if index != head && !allowed.staged {
            staged.push(&**file);
        }
    }
    let list = |files: &[&str]| {
        let shown: Vec<&str> = files.iter().take(10).copied().collect();
        let more = files.len().saturating_sub(shown.len());
        let more = if more > 0 {
            format!("\n  and {more} more")
        } else {
            String::new()
        };
        format!("\n  {}{more}", shown.join("\n  "))
    };
    if !dirty.is_empty() {
        return Err(Stop::Failed(format!(
            "these files have changes that are not committed, so a repair could not be told from them; \
             commit them, or use --allow-dirty:{}",
            list(&dirty)
        )));
    }
    if !staged.is_empty() {
        return Err(Stop::Failed(format!(
            "these files have changes that are staged and not committed; commit them, or use --allow-staged:{}",
            list(&staged)
        )));
    }
    Ok(())
}

/// Git may keep other line ends than the working tree has.
fn is_same(stored: &str, now: &str) -> bool {
    stored == now || stored.replace("\r\n", "\n") == now.replace("\r\n", "\n")
}
