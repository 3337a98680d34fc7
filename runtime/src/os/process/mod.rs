//! Child processes with std's names: change `use std::process` to `use vt_runtime::process`.
//!
//! ```
//! use vt_runtime::process::Command;
//!
//! let output = vt_runtime::thread::spawn(|| Command::new("echo").arg("hello").output()).join().unwrap()?;
//! assert_eq!(output.stdout, b"hello\n");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Pinning
//!
//! Starting a child is done on the offload pool (operation `blocking`). Its end and its pipes are waited for by
//! readiness (operations `io_read` and `io_write`), so that ten thousand waits cost no OS thread.
//!
//! # Errors
//!
//! Those of std. An interrupt ends a wait with [`crate::io::Interrupted`] inside an `io::Error` of the kind `Other`.

mod child;
mod command;
mod pipes;

pub use std::process::{ExitCode, ExitStatus, Output, Stdio, abort, exit, id};

pub use child::Child;
pub use command::Command;
pub use pipes::{ChildStderr, ChildStdin, ChildStdout};
