//! What an I/O wait says that an interrupt ended.

use std::fmt;
use std::io;

use crate::event::Operation;

/// The calling virtual thread was interrupted while it waited for the operating system.
///
/// It comes inside an [`io::Error`] of the kind `Other`: std's loops try again for ever on the kind `Interrupted`.
///
/// ```
/// let error = std::io::Error::other("something else");
/// let interrupted = error.get_ref().is_some_and(|inner| inner.is::<vt_runtime::io::Interrupted>());
/// assert!(!interrupted);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted {
    operation: Operation,
}

impl Interrupted {
    pub(in crate::os) fn error(operation: Operation) -> io::Error {
        io::Error::other(Self { operation })
    }

    /// What it waited for.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the virtual thread was interrupted while it waited for {}",
            self.operation
        )
    }
}

impl std::error::Error for Interrupted {}
