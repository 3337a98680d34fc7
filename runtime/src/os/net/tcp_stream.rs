//! `TcpStream`: std's, whose waits unmount.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Shutdown, SocketAddr};
use std::panic::Location;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};

use super::address::{self, ToSocketAddrs};
use super::{bytes, socket};
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
socket::descriptor!(TcpStream, std::net::TcpStream);

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

    socket::limits!(std::net::TcpStream);

    socket::forward! {
        /// The address of the other end.
        peer_addr() -> SocketAddr;
        /// The address of this end.
        local_addr() -> SocketAddr;
        /// Closes one direction or both. Who waits for it, on whichever handle, goes on.
        shutdown(how: Shutdown) -> ();
        /// Sends small pieces at once instead of gathering them.
        set_nodelay(nodelay: bool) -> ();
        /// Are small pieces sent at once?
        nodelay() -> bool;
        /// How many hops a packet may take.
        set_ttl(ttl: u32) -> ();
        /// How many hops a packet may take.
        ttl() -> u32;
        /// The error that the socket has met since this was last asked.
        take_error() -> Option<io::Error>;
    }

    /// Reads and leaves the bytes where they are.
    ///
    /// # Errors
    ///
    /// As a read.
    #[track_caller]
    pub fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        let what = Attempt::read(Location::caller());
        self.socket.run(what, |fd| {
            Ok(bytes::receive(fd, buf, RecvFlags::PEEK)?.uncertain())
        })
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
