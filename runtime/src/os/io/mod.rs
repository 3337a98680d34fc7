//! The standard streams, with std's names, and what an interrupted wait says. std's traits and adapters are
//! re-exported: change `use std::io` to `use vt_runtime::io`.
//!
//! # Pinning
//!
//! A terminal or a pipe may keep its reader and its writer waiting for ever, so both are done on the offload pool; the
//! calling virtual thread unmounts, unless pinned (operation `blocking`). `println!` and its kind know nothing of
//! this and block the carrier while nobody takes their output.

mod interrupted;
mod stdio;

pub use std::io::{
    BufRead, BufReader, BufWriter, Chain, Cursor, Empty, Error, ErrorKind, IntoInnerError, IoSlice,
    IoSliceMut, LineWriter, Lines, Read, Repeat, Result, Seek, SeekFrom, Sink, Split, Take, Write,
    copy, empty, read_to_string, repeat, sink,
};

pub use interrupted::Interrupted;
pub use stdio::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
