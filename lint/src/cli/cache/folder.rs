//! The folder of the cache: where it is, who may look into it, and how full it gets.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Where entries lie; `None` when there is no place for them.
pub(super) fn folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    if let Some(target) = absolute("CARGO_TARGET_DIR") {
        return Some(target.join("vt-lint"));
    }
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("LOCALAPPDATA"));
    let base = base.or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    Some(base?.join("cargo-vt-lint"))
}

/// Creates the folder for this user alone: reports quote source code.
pub(super) fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes the oldest files beyond so many.
pub(super) fn make_room(folder: &Path, most: usize) -> std::io::Result<()> {
    let entries = fs::read_dir(folder)?.flatten();
    let mut by_age: Vec<_> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    by_age.sort();
    let surplus = by_age.len().saturating_sub(most);
    for (_, path) in by_age.iter().take(surplus) {
        fs::remove_file(path)?;
    }
    Ok(())
}
