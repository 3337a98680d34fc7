//! Files with std's names: change `use std::fs` to `use vt_runtime::fs`.
//!
//! A disk gives no readiness to wait for, so what may block is done on the offload pool. Reads and writes are first
//! tried in place with `RWF_NOWAIT`, which does what the page cache can do at once.
//!
//! ```
//! use vt_runtime::fs;
//!
//! let path = std::env::temp_dir().join(format!("vt-doc-{}", std::process::id()));
//! fs::write(&path, "text")?;
//! assert_eq!(fs::read_to_string(&path)?, "text");
//! fs::remove_file(&path)?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Pinning
//!
//! The calling virtual thread unmounts while the pool works for it, unless pinned (operation `blocking`). That wait
//! lends memory: neither an interrupt nor a shutdown ends it.
//!
//! # Errors
//!
//! Those of std.

mod dir;
mod file;
mod options;
mod warmth;

use std::io;
use std::path::{Path, PathBuf};

pub use std::fs::{DirBuilder, FileTimes, FileType, Metadata, Permissions, TryLockError};

pub use dir::{DirEntry, ReadDir, read_dir};
pub use file::File;
pub use options::OpenOptions;

use super::blocking;

/// Functions of paths that only hand their work to the pool.
macro_rules! offloaded {
    ($($(#[$doc:meta])+ $name:ident($path:ident $(, $argument:ident: $type:ty)*) -> $result:ty;)+) => {$(
        $(#[$doc])+
        ///
        /// # Errors
        ///
        /// Those of the operating system.
        #[track_caller]
        pub fn $name<P: AsRef<Path>>($path: P $(, $argument: $type)*) -> io::Result<$result> {
            let $path = $path.as_ref();
            blocking(move || std::fs::$name($path $(, $argument)*))
        }
    )+};
}

offloaded! {
    /// The whole file.
    read(path) -> Vec<u8>;
    /// The whole file, as text.
    read_to_string(path) -> String;
    /// What is known about a file, behind symbolic links.
    metadata(path) -> Metadata;
    /// What is known about a file or symbolic link.
    symlink_metadata(path) -> Metadata;
    /// The absolute path without symbolic links.
    canonicalize(path) -> PathBuf;
    /// Where a symbolic link points.
    read_link(path) -> PathBuf;
    /// Makes a folder.
    create_dir(path) -> ();
    /// Makes a folder and those above it.
    create_dir_all(path) -> ();
    /// Removes an empty folder.
    remove_dir(path) -> ();
    /// Removes a folder with all that is in it.
    remove_dir_all(path) -> ();
    /// Removes a file.
    remove_file(path) -> ();
    /// Changes who may do what.
    set_permissions(path, permissions: Permissions) -> ();
    /// Is there such a file? An error says that this cannot be told.
    exists(path) -> bool;
}

/// Functions of two paths.
macro_rules! offloaded_from_to {
    ($($(#[$doc:meta])+ $name:ident -> $result:ty;)+) => {$(
        $(#[$doc])+
        ///
        /// # Errors
        ///
        /// Those of the operating system.
        #[track_caller]
        pub fn $name<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> io::Result<$result> {
            let (from, to) = (from.as_ref(), to.as_ref());
            blocking(move || std::fs::$name(from, to))
        }
    )+};
}

offloaded_from_to! {
    /// Copies a file and its permissions; returns how many bytes.
    copy -> u64;
    /// Gives a file another name.
    rename -> ();
    /// Gives a file a second name.
    hard_link -> ();
}

/// Makes that the file's whole content.
///
/// # Errors
///
/// Those of the operating system.
#[track_caller]
pub fn write<P: AsRef<Path>, C: AsRef<[u8]>>(path: P, contents: C) -> io::Result<()> {
    let (path, contents) = (path.as_ref(), contents.as_ref());
    blocking(move || std::fs::write(path, contents))
}
