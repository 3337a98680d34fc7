//! What is in a folder, fetched from the pool by the batch.

use std::ffi::OsString;
use std::fs::{FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::vec;

use crate::os::blocking;

/// Entries fetched at a time.
const BATCH: usize = 64;

/// The entries of a folder, in no order.
///
/// # Errors
///
/// Those of the operating system.
#[track_caller]
pub fn read_dir<P: AsRef<Path>>(path: P) -> io::Result<ReadDir> {
    let path = path.as_ref();
    let inner = blocking(move || std::fs::read_dir(path))?;
    Ok(ReadDir {
        inner,
        fetched: Vec::new().into_iter(),
    })
}

/// The entries of a folder, as [`std::fs::ReadDir`].
#[derive(Debug)]
#[must_use = "iterators do nothing until they are consumed"]
pub struct ReadDir {
    inner: std::fs::ReadDir,
    fetched: vec::IntoIter<io::Result<std::fs::DirEntry>>,
}

impl Iterator for ReadDir {
    type Item = io::Result<DirEntry>;

    #[track_caller]
    fn next(&mut self) -> Option<Self::Item> {
        if self.fetched.len() == 0 {
            let inner = &mut self.inner;
            let fetched: Vec<_> = blocking(move || inner.take(BATCH).collect());
            self.fetched = fetched.into_iter();
        }
        let entry = self.fetched.next()?;
        Some(entry.map(|inner| DirEntry { inner }))
    }
}

/// One entry of a folder, as [`std::fs::DirEntry`].
#[derive(Debug)]
pub struct DirEntry {
    inner: std::fs::DirEntry,
}

impl DirEntry {
    /// The folder's path with the name appended.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.inner.path()
    }

    /// The bare name.
    #[must_use]
    pub fn file_name(&self) -> OsString {
        self.inner.file_name()
    }

    /// What is known about it; symbolic links are not followed.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        blocking(|| self.inner.metadata())
    }

    /// File, folder or link.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[track_caller]
    pub fn file_type(&self) -> io::Result<FileType> {
        blocking(|| self.inner.file_type())
    }
}
