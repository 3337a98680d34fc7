//! Pipes to and from a child. Our ends are in non-blocking mode; the child's ends are files of their own and are not.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::panic::Location;
use std::process::Stdio;

use crate::os::polled::{Attempt, Done, Polled};

fn pipe(end: OwnedFd) -> io::Result<Polled<OwnedFd>> {
    rustix::io::ioctl_fionbio(&end, true)?;
    Ok(Polled::new(end))
}

macro_rules! pipe_end {
    ($(#[$doc:meta])+ $name:ident, $std:ty) => {
        $(#[$doc])+
        ///
        /// # Pinning
        ///
        /// Unmounts, unless pinned.
        pub struct $name {
            end: Polled<OwnedFd>,
        }

        impl $name {
            pub(super) fn new(std: $std) -> io::Result<Self> {
                pipe(std.into()).map(|end| Self { end })
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(self.end.inner()).finish()
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.end.inner().as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.end.inner().as_raw_fd()
            }
        }

        /// In blocking mode, as whoever gets it expects.
        impl From<$name> for OwnedFd {
            fn from(pipe: $name) -> Self {
                let end = pipe.end.into_inner();
                // Fails for a closed descriptor only.
                let _ = rustix::io::ioctl_fionbio(&end, false);
                end
            }
        }

        /// For the next child of a chain.
        impl From<$name> for Stdio {
            fn from(pipe: $name) -> Self {
                OwnedFd::from(pipe).into()
            }
        }
    };
}

pipe_end! {
    /// What the child reads, as [`std::process::ChildStdin`].
    ChildStdin, std::process::ChildStdin
}

pipe_end! {
    /// The child's output, as [`std::process::ChildStdout`].
    ChildStdout, std::process::ChildStdout
}

pipe_end! {
    /// The child's errors, as [`std::process::ChildStderr`].
    ChildStderr, std::process::ChildStderr
}

macro_rules! reads {
    ($($pipe:ty),+) => {$(
        impl Read for $pipe {
            #[track_caller]
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.end.run(Attempt::read(Location::caller()), |end| {
                    let count = rustix::io::read(end, &mut *buf)?;
                    Ok(Done::perhaps_more(count))
                })
            }
        }
    )+};
}

macro_rules! writes {
    ($($pipe:ty),+) => {$(
        impl Write for $pipe {
            #[track_caller]
            fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
                self.end.run(Attempt::write(Location::caller()), |end| {
                    Ok(Done::perhaps_more(rustix::io::write(end, buf)?))
                })
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
    )+};
}

reads!(ChildStdout, &ChildStdout, ChildStderr, &ChildStderr);
writes!(ChildStdin, &ChildStdin);
