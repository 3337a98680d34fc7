//! Files on the disk, within the directories a run may read.
//!
//! **Invariant:** every path is resolved, links included, before it is opened, and only regular files inside the
//! allowed directories are read. A link out of the workspace, a device or a pipe is an error, not a hang.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::input::{SourceError, Sources};

/// Larger files are reported instead of read: positions are 32 bits wide, and no person wrote them.
const MAX_BYTES: u64 = 64 << 20;

/// The disk as [`Sources`].
#[derive(Debug)]
pub struct Disk {
    /// Resolved directories whose files may be read.
    allowed: Vec<PathBuf>,
    /// What display paths are relative to, links not resolved.
    root: PathBuf,
    /// Texts that stand in for files.
    overlay: HashMap<PathBuf, Arc<str>>,
    /// How many files were read so far.
    read: Arc<AtomicUsize>,
}

impl Disk {
    /// Files below `allowed`; display paths are relative to `root`.
    pub(crate) fn new(root: PathBuf, allowed: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut allowed: Vec<PathBuf> = allowed
            .into_iter()
            .filter_map(|directory| fs::canonicalize(directory).ok())
            .collect();
        allowed.sort();
        // A directory stands right before everything below it, so each keeps only what it does not cover.
        allowed.dedup_by(|later, earlier| later.starts_with(earlier));
        Self {
            allowed,
            root,
            overlay: HashMap::new(),
            read: Arc::default(),
        }
    }

    /// Lets `text` stand in for the file `path`.
    pub(crate) fn overlay(&mut self, path: PathBuf, text: String) {
        self.overlay.insert(path, text.into());
    }

    /// A counter of the files read, for whoever shows progress.
    pub(crate) fn files_read(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.read)
    }

    fn resolve(&self, path: &Path) -> Result<PathBuf, SourceError> {
        let resolved =
            fs::canonicalize(path).map_err(|error| SourceError::Unreadable(error.to_string()))?;
        if self
            .allowed
            .iter()
            .any(|directory| resolved.starts_with(directory))
        {
            Ok(resolved)
        } else {
            Err(SourceError::OutsideWorkspace)
        }
    }
}

impl Sources for Disk {
    fn read(&self, path: &Path) -> Result<Arc<str>, SourceError> {
        if let Some(text) = self.overlay.get(path) {
            return Ok(Arc::clone(text));
        }
        let unreadable = |error: std::io::Error| SourceError::Unreadable(error.to_string());
        let resolved = self.resolve(path)?;
        let metadata = fs::metadata(&resolved).map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(SourceError::Unreadable(
                "it is not a regular file".to_owned(),
            ));
        }
        if metadata.len() > MAX_BYTES {
            return Err(SourceError::TooLarge {
                bytes: metadata.len(),
            });
        }
        self.read.fetch_add(1, Relaxed);
        let bytes = fs::read(&resolved).map_err(unreadable)?;
        let text = String::from_utf8(bytes).map_err(|error| SourceError::NotUtf8 {
            valid_up_to: error.utf8_error().valid_up_to(),
        })?;
        Ok(text.into())
    }

    fn exists(&self, path: &Path) -> bool {
        self.overlay.contains_key(path) || path.is_file()
    }

    fn display(&self, path: &Path) -> String {
        let path = normalize(path);
        let shown = path.strip_prefix(&self.root).unwrap_or(&path);
        let text = shown.to_string_lossy();
        if std::path::MAIN_SEPARATOR == '/' {
            text.into_owned()
        } else {
            text.replace(std::path::MAIN_SEPARATOR, "/")
        }
    }
}

/// Takes `.` and `name/..` out of a path without looking at the disk.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(normal.components().next_back(), Some(Component::Normal(_))) =>
            {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
