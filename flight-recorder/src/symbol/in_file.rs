//! Names functions of a program's file, for recordings whose process could not name them itself.

use std::fmt;
use std::io;
use std::path::Path;

use addr2line::Loader;

use super::in_process::{at_return, functions};
use super::source::Sources;
use super::{Function, Symbolizer};

/// The debug information and symbols of a file. Its addresses are the file's own: those of a process
/// less the module's base.
pub struct InFile {
    loader: Loader,
    sources: Sources,
}

impl InFile {
    /// Opens a program or library, or the file of its debug information.
    ///
    /// # Errors
    /// It cannot be read, or is no object file.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let loader = Loader::new(path).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self {
            loader,
            sources: Sources::default(),
        })
    }
}

impl Symbolizer for InFile {
    fn functions(&mut self, address: u64) -> Vec<Function> {
        let Self { loader, sources } = self;
        at_return(address, |at| functions(loader, sources, at))
    }
}

impl fmt::Debug for InFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFile").finish_non_exhaustive()
    }
}
