//! `TcpListener`: std's, whose accept unmounts.

use std::io;
use std::iter::FusedIterator;
use std::net::SocketAddr;
use std::panic::Location;

use super::address::{self, ToSocketAddrs};
use super::{TcpStream, socket};
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

socket::descriptor!(TcpListener, std::net::TcpListener);

impl TcpListener {
    /// Listens on the first of the addresses that can be had.
    ///
    /// # Errors
    ///
    /// Of the last address tried.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<Self> {
        address::first(addr, |address| {
            Self::bound(std::net::TcpListener::bind(address)?)
        })
    }

    socket::listener!(std::net::TcpListener);

    socket::forward! {
        /// The address it listens on.
        local_addr() -> SocketAddr;
        /// How many hops a packet may take.
        set_ttl(ttl: u32) -> ();
        /// How many hops a packet may take.
        ttl() -> u32;
        /// The error that the socket has met since this was last asked.
        take_error() -> Option<io::Error>;
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
