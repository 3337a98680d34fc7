//! `UnixStream`: std's, whose waits unmount.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::SocketAddr;
use std::panic::Location;
use std::path::Path;

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketAddrUnix, SocketFlags, SocketType};

use super::{bytes, socket};
use crate::os::blocking;
use crate::os::polled::{Attempt, Polled};

/// A connection within the machine, as [`std::os::unix::net::UnixStream`].
///
/// # Pinning
///
/// Reading, writing and connecting unmount, unless pinned.
pub struct UnixStream {
    socket: Polled<std::os::unix::net::UnixStream>,
}

bytes::stream_io!(UnixStream, &UnixStream);
socket::descriptor!(UnixStream, std::os::unix::net::UnixStream);

impl UnixStream {
    /// Connects to the socket of that path.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Self::connect_addr(&SocketAddr::from_pathname(path)?)
    }

    /// Connects to a socket by its path or its abstract name.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[track_caller]
    pub fn connect_addr(address: &SocketAddr) -> io::Result<Self> {
        let at = Location::caller();
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        match rustix::net::connect(&fd, &to_kernel(address)?) {
            Ok(()) => {
                let stream = std::os::unix::net::UnixStream::from(fd);
                stream.set_nonblocking(false)?;
                Ok(Self::connected(stream))
            }
            // The listener's queue is full. No readiness tells when it is not: only a blocking connect waits.
            Err(Errno::AGAIN) => {
                let address = address.clone();
                let connect = move || std::os::unix::net::UnixStream::connect_addr(&address);
                blocking::abandonable(connect, at)?.map(Self::connected)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Two streams that are connected to each other.
    ///
    /// # Errors
    ///
    /// If no descriptor is left.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = std::os::unix::net::UnixStream::pair()?;
        Ok((Self::connected(one), Self::connected(other)))
    }

    pub(super) fn connected(stream: std::os::unix::net::UnixStream) -> Self {
        Self {
            socket: Polled::new(stream),
        }
    }

    socket::limits!(std::os::unix::net::UnixStream);

    socket::forward! {
        /// The address of the other end.
        peer_addr() -> SocketAddr;
        /// The address of this end.
        local_addr() -> SocketAddr;
        /// Closes one direction or both. Who waits for it, on whichever handle, goes on.
        shutdown(how: Shutdown) -> ();
        /// The error that the socket has met since this was last asked.
        take_error() -> Option<io::Error>;
    }

    fn receive(&self, buf: &mut [u8], at: &'static Location<'static>) -> io::Result<usize> {
        // A read ends where passed descriptors or another sender begin: few bytes do not mean that no more are there.
        self.socket.run(Attempt::read(at), |fd| {
            Ok(bytes::receive(fd, buf, RecvFlags::empty())?.uncertain())
        })
    }

    fn receive_vectored(
        &self,
        bufs: &mut [IoSliceMut<'_>],
        at: &'static Location<'static>,
    ) -> io::Result<usize> {
        self.socket.run(Attempt::read(at), |fd| {
            Ok(bytes::receive_vectored(fd, bufs)?.uncertain())
        })
    }

    fn send(&self, buf: &[u8], at: &'static Location<'static>) -> io::Result<usize> {
        self.socket
            .run(Attempt::write(at), |fd| bytes::send(fd, buf))
    }

    fn send_vectored(
        &self,
        bufs: &[IoSlice<'_>],
        at: &'static Location<'static>,
    ) -> io::Result<usize> {
        self.socket
            .run(Attempt::write(at), |fd| bytes::send_vectored(fd, bufs))
    }
}

pub(super) fn to_kernel(address: &SocketAddr) -> io::Result<SocketAddrUnix> {
    if let Some(path) = address.as_pathname() {
        return Ok(SocketAddrUnix::new(path)?);
    }
    match address.as_abstract_name() {
        Some(name) => Ok(SocketAddrUnix::new_abstract_name(name)?),
        None => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a socket without a name cannot be connected to",
        )),
    }
}
