//! `TcpStream`: std's, whose waits unmount.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};

use super::address::{self, ToSocketAddrs};
use super::bytes;
use crate::carrier::Direction;
use crate::os::polled::{Attempt, Done, Polled};

/// A TCP connection, as [`std::net::TcpStream`].
///
/// # Pinning
///
/// Reading, writing and connecting unmount, unless pinned.
pub struct TcpStream {
    socket: Polled<std::net::TcpStream>,
}

bytes::stream_io!(TcpStream, &TcpStream);

impl TcpStream {
    /// Connects to the first of the addresses that answers.
    ///
    /// # Errors
    ///
    /// Of the last address tried.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<Self> {
        let at = Location::caller();
        address::first(addr, |address| Self::connect_at(&address, None, at))
    }

    /// Connects within `timeout`.
    ///
    /// # Errors
    ///
    /// `TimedOut` if it took longer, `InvalidInput` for a time-out of zero.
    #[track_caller]
    pub fn connect_timeout(addr: &SocketAddr, timeout: Duration) -> io::Result<Self> {
        if timeout.is_zero() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a connection cannot be made within a time-out of zero",
            ));
        }
        let deadline = Instant::now().checked_add(timeout);
        Self::connect_at(addr, deadline, Location::caller()).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::Error::new(
                io::ErrorKind::TimedOut,
                "the connection was not made within the time-out",
            ),
            _ => error,
        })
    }

    fn connect_at(
        address: &SocketAddr,
        deadline: Option<Instant>,
        at: &'static Location<'static>,
    ) -> io::Result<Self> {
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        let socket = Polled::new(std::net::TcpStream::from(fd));
        let mut begun = false;
        socket.run(Attempt::connect(at, deadline), |socket| {
            if !begun {
                begun = true;
                return match rustix::net::connect(socket, address) {
                    Ok(()) => Ok(Done::perhaps_more(())),
                    // Interrupted by a signal, it goes on in the background as well.
                    Err(rustix::io::Errno::INPROGRESS | rustix::io::Errno::INTR) => {
                        Err(io::ErrorKind::WouldBlock.into())
                    }
                    Err(error) => Err(error.into()),
                };
            }
            if let Some(error) = socket.take_error()? {
                return Err(error);
            }
            match socket.peer_addr() {
                Ok(_) => Ok(Done::perhaps_more(())),
                Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                    Err(io::ErrorKind::WouldBlock.into())
                }
                Err(error) => Err(error),
            }
        })?;
        // From here on it is asked with MSG_DONTWAIT, and is what a std stream would be.
        socket.inner().set_nonblocking(false)?;
        Ok(Self { socket })
    }

    /// A socket just accepted.
    pub(super) fn accepted(socket: std::net::TcpStream) -> Self {
        Self {
            socket: Polled::new(socket),
        }
    }

    /// Takes over a stream of std, with its time-outs and its mode.
    ///
    /// # Errors
    ///
    /// If the descriptor cannot be asked for them.
    pub fn from_std(stream: std::net::TcpStream) -> io::Result<Self> {
        let mode = rustix::fs::fcntl_getfl(&stream)?;
        let (read, write) = (stream.read_timeout()?, stream.write_timeout()?);
        let socket = Polled::new(stream);
        let limits = socket.limits();
        limits.set_timeout(Direction::Read, read)?;
        limits.set_timeout(Direction::Write, write)?;
        limits.set_nonblocking(mode.contains(rustix::fs::OFlags::NONBLOCK));
        Ok(Self { socket })
    }

    /// The stream as std's, with the same time-outs and mode.
    ///
    /// # Errors
    ///
    /// None on Linux.
    pub fn into_std(self) -> io::Result<std::net::TcpStream> {
        Ok(self.socket.into_inner())
    }

    /// A second handle to the same connection, with time-outs and mode in common.
    ///
    /// # Errors
    ///
    /// If no descriptor is left.
    pub fn try_clone(&self) -> io::Result<Self> {
        let inner = self.socket.inner().try_clone()?;
        Ok(Self {
            socket: Polled::sharing(inner, Arc::clone(self.socket.limits())),
        })
    }

    /// The address of the other end.
    ///
    /// # Errors
    ///
    /// If the socket is not connected any more.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().peer_addr()
    }

    /// The address of this end.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().local_addr()
    }

    /// Closes one direction or both. Who waits for it, on whichever handle, goes on.
    ///
    /// # Errors
    ///
    /// If the socket is not connected any more.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket.inner().shutdown(how)
    }

    /// How long a read may wait; then it fails with the kind `WouldBlock`. `None`: for ever.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for zero.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        // The kernel's own is for whoever gets the stream by `into_std` or duplicates its descriptor.
        self.socket.inner().set_read_timeout(timeout)?;
        self.socket.limits().set_timeout(Direction::Read, timeout)
    }

    /// How long a write may wait; then it fails with the kind `WouldBlock`. `None`: for ever.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for zero.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.inner().set_write_timeout(timeout)?;
        self.socket.limits().set_timeout(Direction::Write, timeout)
    }

    /// How long a read may wait.
    ///
    /// # Errors
    ///
    /// None.
    pub fn read_timeout(&self) -> io::Result<Option<Duration>> {
        Ok(self.socket.limits().timeout(Direction::Read))
    }

    /// How long a write may wait.
    ///
    /// # Errors
    ///
    /// None.
    pub fn write_timeout(&self) -> io::Result<Option<Duration>> {
        Ok(self.socket.limits().timeout(Direction::Write))
    }

    /// Reads and leaves the bytes where they are.
    ///
    /// # Errors
    ///
    /// As a read.
    #[track_caller]
    pub fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        let what = Attempt::read(Location::caller());
        self.socket
            .run(what, |fd| bytes::receive(fd, buf, RecvFlags::PEEK))
    }

    /// Sends small pieces at once instead of gathering them.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.socket.inner().set_nodelay(nodelay)
    }

    /// Are small pieces sent at once?
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.socket.inner().nodelay()
    }

    /// How many hops a packet may take.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.socket.inner().set_ttl(ttl)
    }

    /// How many hops a packet may take.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn ttl(&self) -> io::Result<u32> {
        self.socket.inner().ttl()
    }

    /// The error that the socket has met since this was last asked.
    ///
    /// # Errors
    ///
    /// If it cannot be asked.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.inner().take_error()
    }

    /// Whether operations fail with the kind `WouldBlock` instead of waiting, for all handles of the connection.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.inner().set_nonblocking(nonblocking)?;
        self.socket.limits().set_nonblocking(nonblocking);
        Ok(())
    }

    fn receive(&self, buf: &mut [u8], at: &'static Location<'static>) -> io::Result<usize> {
        self.socket.run(Attempt::read(at), |fd| {
            bytes::receive(fd, buf, RecvFlags::empty())
        })
    }

    fn receive_vectored(
        &self,
        bufs: &mut [IoSliceMut<'_>],
        at: &'static Location<'static>,
    ) -> io::Result<usize> {
        self.socket
            .run(Attempt::read(at), |fd| bytes::receive_vectored(fd, bufs))
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

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.inner().fmt(f)
    }
}

impl AsFd for TcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.inner().as_fd()
    }
}

impl AsRawFd for TcpStream {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.inner().as_raw_fd()
    }
}

impl IntoRawFd for TcpStream {
    fn into_raw_fd(self) -> RawFd {
        self.socket.into_inner().into_raw_fd()
    }
}

impl From<TcpStream> for OwnedFd {
    fn from(stream: TcpStream) -> Self {
        stream.socket.into_inner().into()
    }
}

impl From<TcpStream> for std::net::TcpStream {
    fn from(stream: TcpStream) -> Self {
        stream.socket.into_inner()
    }
}

impl TryFrom<std::net::TcpStream> for TcpStream {
    type Error = io::Error;

    fn try_from(stream: std::net::TcpStream) -> io::Result<Self> {
        Self::from_std(stream)
    }
}
