//! `TcpListener`: std's, whose accept unmounts.

use std::fmt;
use std::io;
use std::iter::FusedIterator;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::panic::Location;
use std::sync::Arc;

use super::TcpStream;
use super::address::{self, ToSocketAddrs};
use crate::os::polled::{Attempt, Done, Polled};

/// A socket that accepts TCP connections, as [`std::net::TcpListener`].
///
/// Its descriptor is in non-blocking mode, which duplicates of it share.
///
/// # Pinning
///
/// Accepting unmounts, unless pinned.
pub struct TcpListener {
    socket: Polled<std::net::TcpListener>,
}

impl TcpListener {
    /// Listens on the first of the addresses that can be had.
    ///
    /// # Errors
    ///
    /// Of the last address tried.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<Self> {
        address::first(addr, |address| {
            let socket = std::net::TcpListener::bind(address)?;
            socket.set_nonblocking(true)?;
            Ok(Self {
                socket: Polled::new(socket),
            })
        })
    }

    /// Takes over a listener of std, with its mode.
    ///
    /// # Errors
    ///
    /// If the descriptor's mode cannot be changed.
    pub fn from_std(listener: std::net::TcpListener) -> io::Result<Self> {
        let mode = rustix::fs::fcntl_getfl(&listener)?;
        listener.set_nonblocking(true)?;
        let socket = Polled::new(listener);
        let nonblocking = mode.contains(rustix::fs::OFlags::NONBLOCK);
        socket.limits().set_nonblocking(nonblocking);
        Ok(Self { socket })
    }

    /// The listener as std's, in the mode that [`set_nonblocking`](Self::set_nonblocking) says. Duplicates of the
    /// descriptor change with it.
    ///
    /// # Errors
    ///
    /// If the descriptor's mode cannot be changed.
    pub fn into_std(self) -> io::Result<std::net::TcpListener> {
        let nonblocking = self.socket.limits().is_nonblocking();
        let listener = self.socket.into_inner();
        listener.set_nonblocking(nonblocking)?;
        Ok(listener)
    }

    /// The address it listens on.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().local_addr()
    }

    /// A second handle to the same socket.
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

    /// Waits for a connection.
    ///
    /// # Errors
    ///
    /// Those of the operating system: out of descriptors, or a connection that was gone before it was taken. The
    /// listener goes on.
    #[track_caller]
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.accept_at(Location::caller())
    }

    fn accept_at(&self, at: &'static Location<'static>) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = self.socket.run(Attempt::accept(at), |listener| {
            listener.accept().map(Done::perhaps_more)
        })?;
        Ok((TcpStream::accepted(stream), peer))
    }

    /// The connections, one after the other, for ever.
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
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

    /// Whether `accept` fails with the kind `WouldBlock` instead of waiting, for all handles of the socket.
    ///
    /// # Errors
    ///
    /// None.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.limits().set_nonblocking(nonblocking);
        Ok(())
    }
}

/// The connections of a [`TcpListener`].
#[derive(Debug)]
#[must_use = "iterators do nothing until they are consumed"]
pub struct Incoming<'a> {
    listener: &'a TcpListener,
}

impl Iterator for Incoming<'_> {
    type Item = io::Result<TcpStream>;

    #[track_caller]
    fn next(&mut self) -> Option<Self::Item> {
        let accepted = self.listener.accept_at(Location::caller());
        Some(accepted.map(|(stream, _)| stream))
    }
}

impl FusedIterator for Incoming<'_> {}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.inner().fmt(f)
    }
}

impl AsFd for TcpListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.inner().as_fd()
    }
}

impl AsRawFd for TcpListener {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.inner().as_raw_fd()
    }
}

impl IntoRawFd for TcpListener {
    fn into_raw_fd(self) -> RawFd {
        self.socket.into_inner().into_raw_fd()
    }
}

impl From<TcpListener> for OwnedFd {
    fn from(listener: TcpListener) -> Self {
        listener.socket.into_inner().into()
    }
}

impl TryFrom<TcpListener> for std::net::TcpListener {
    type Error = io::Error;

    fn try_from(listener: TcpListener) -> io::Result<Self> {
        listener.into_std()
    }
}

impl TryFrom<std::net::TcpListener> for TcpListener {
    type Error = io::Error;

    fn try_from(listener: std::net::TcpListener) -> io::Result<Self> {
        Self::from_std(listener)
    }
}
