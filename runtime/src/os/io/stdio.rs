//! Standard input, output and error over the offload pool.
//!
//! The buffers and locks are std's, held only on a thread of the pool and never over a park, so that these and
//! `println!` may be used side by side.

use std::io::{self, IoSlice, Read, Write};

use crate::os::blocking;

/// The process' standard input, as [`std::io::stdin`].
#[must_use]
pub fn stdin() -> Stdin {
    Stdin(())
}

/// The process' standard output, as [`std::io::stdout`].
#[must_use]
pub fn stdout() -> Stdout {
    Stdout(())
}

/// The process' standard error, as [`std::io::stderr`].
#[must_use]
pub fn stderr() -> Stderr {
    Stderr(())
}

/// Standard input. Who reads keeps a thread of the offload pool until something comes.
#[derive(Debug)]
pub struct Stdin(());

/// Standard output; lines are written when they end.
#[derive(Debug)]
pub struct Stdout(());

/// Standard error; everything is written at once.
#[derive(Debug)]
pub struct Stderr(());

impl Stdin {
    /// Reads a line, with its end, and appends it. Zero bytes: there is no more.
    ///
    /// # Errors
    ///
    /// Those of the operating system; `InvalidData` if it is not UTF-8.
    #[track_caller]
    pub fn read_line(&self, buf: &mut String) -> io::Result<usize> {
        blocking(|| io::stdin().read_line(buf))
    }

    /// The lines to come, without their ends.
    pub fn lines(self) -> impl Iterator<Item = io::Result<String>> {
        std::iter::from_fn(move || {
            let mut line = String::new();
            match self.read_line(&mut line) {
                Ok(0) => None,
                Ok(_) => {
                    if line.ends_with('\n') {
                        line.pop();
                        if line.ends_with('\r') {
                            line.pop();
                        }
                    }
                    Some(Ok(line))
                }
                Err(error) => Some(Err(error)),
            }
        })
    }
}

macro_rules! reads {
    ($($type:ty),+) => {$(
        impl Read for $type {
            #[track_caller]
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                blocking(|| io::stdin().read(buf))
            }

            #[track_caller]
            fn read_exact(&mut self, buf: &mut [u8]) -> io::Result<()> {
                blocking(|| io::stdin().read_exact(buf))
            }

            #[track_caller]
            fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
                blocking(|| io::stdin().read_to_end(buf))
            }

            #[track_caller]
            fn read_to_string(&mut self, buf: &mut String) -> io::Result<usize> {
                blocking(|| io::stdin().read_to_string(buf))
            }
        }
    )+};
}

macro_rules! writes {
    ($std:path: $($type:ty),+) => {$(
        impl Write for $type {
            #[track_caller]
            fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
                blocking(|| $std().write(buf))
            }

            #[track_caller]
            fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
                blocking(|| $std().write_vectored(bufs))
            }

            #[track_caller]
            fn write_all(&mut self, buf: &[u8]) -> io::Result<()> {
                blocking(|| $std().write_all(buf))
            }

            /// Formats first, on the calling thread, and sends the text in one piece.
            #[track_caller]
            fn write_fmt(&mut self, text: std::fmt::Arguments<'_>) -> io::Result<()> {
                let mut bytes = Vec::new();
                bytes.write_fmt(text)?;
                blocking(|| $std().write_all(&bytes))
            }

            #[track_caller]
            fn flush(&mut self) -> io::Result<()> {
                blocking(|| $std().flush())
            }
        }
    )+};
}

reads!(Stdin, &Stdin);
writes!(io::stdout: Stdout, &Stdout);
writes!(io::stderr: Stderr, &Stderr);
