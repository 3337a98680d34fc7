//! `UnixListener`: std's, whose accept unmounts.

use std::io;
use std::iter::FusedIterator;
use std::os::unix::net::SocketAddr;
use std::panic::Location;
use std::path::Path;

use super::{UnixStream, socket};
use crate::os::polled::{Attempt, Done, Polled};

/// A socket that accepts connections from within the machine, as [`std::os::unix::net::UnixListener`].
///
/// Its descriptor is in non-blocking mode, which duplicates of it share.
///
/// # Pinning
///
/// Accepting unmounts, unless pinned.
pub struct UnixListener {
    socket: Polled<std::os::unix::net::UnixListener>,
}

socket::descriptor!(UnixListener, std::os::unix::net::UnixListener);

impl UnixListener {
    /// Listens under that path.
    ///
    /// # Errors
    ///
    /// Those of the operating system: the path may be taken.
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Self::bound(std::os::unix::net::UnixListener::bind(path)?)
    }

    /// Listens under a path or an abstract name.
    ///
    /// # Errors
    ///
    /// Those of the operating system: the name may be taken.
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::bound(std::os::unix::net::UnixListener::bind_addr(address)?)
    }

    socket::listener!(std::os::unix::net::UnixListener);

    socket::forward! {
        /// The address it listens on.
        local_addr() -> SocketAddr;
        /// The error that the socket has met since this was last asked.
        take_error() -> Option<io::Error>;
    }

    /// Waits for a connection.
    ///
    /// # Errors
    ///
    /// Those of the operating system. The listener goes on.
    #[track_caller]
    pub fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.accept_at(Location::caller())
    }

    fn accept_at(&self, at: &'static Location<'static>) -> io::Result<(UnixStream, SocketAddr)> {
        let (stream, peer) = self.socket.run(Attempt::accept(at), |listener| {
            listener.accept().map(Done::perhaps_more)
        })?;
        Ok((UnixStream::connected(stream), peer))
    }
}

/// The connections of a [`UnixListener`].
#[derive(Debug)]
#[must_use = "iterators do nothing until they are consumed"]
pub struct Incoming<'a> {
    listener: &'a UnixListener,
}

impl Iterator for Incoming<'_> {
    type Item = io::Result<UnixStream>;

    #[track_caller]
    fn next(&mut self) -> Option<Self::Item> {
        let accepted = self.listener.accept_at(Location::caller());
        Some(accepted.map(|(stream, _)| stream))
    }
}

impl FusedIterator for Incoming<'_> {}

impl<'a> IntoIterator for &'a UnixListener {
    type Item = io::Result<UnixStream>;
    type IntoIter = Incoming<'a>;

    fn into_iter(self) -> Incoming<'a> {
        self.incoming()
    }
}
