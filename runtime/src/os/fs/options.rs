//! How a file is opened.

use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::File;
use crate::os::blocking;

/// How a file is opened, as [`std::fs::OpenOptions`].
#[derive(Clone, Debug)]
pub struct OpenOptions {
    inner: std::fs::OpenOptions,
}

macro_rules! switches {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        pub fn $name(&mut self, $name: bool) -> &mut Self {
            self.inner.$name($name);
            self
        }
    )+};
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenOptions {
    /// Everything off.
    #[must_use]
    pub fn new() -> Self {
        Self {
            inner: std::fs::OpenOptions::new(),
        }
    }

    switches! {
        /// For reading.
        read;
        /// For writing.
        write;
        /// For writing at the end only.
        append;
        /// Emptied first.
        truncate;
        /// Made if it is not there.
        create;
        /// Made, and an error if it is there.
        create_new;
    }

    /// Opens.
    ///
    /// # Errors
    ///
    /// Those of the operating system; `InvalidInput` for switches that make no sense together.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(&self, path: P) -> io::Result<File> {
        let path = path.as_ref();
        Ok(blocking(|| self.inner.open(path))?.into())
    }
}

impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, mode: u32) -> &mut Self {
        self.inner.mode(mode);
        self
    }

    fn custom_flags(&mut self, flags: i32) -> &mut Self {
        self.inner.custom_flags(flags);
        self
    }
}

impl From<std::fs::OpenOptions> for OpenOptions {
    fn from(inner: std::fs::OpenOptions) -> Self {
        Self { inner }
    }
}
