//! `UdpSocket`: std's, whose waits unmount.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::panic::Location;

use rustix::net::{RecvFlags, SendFlags};

use super::address::{self, ToSocketAddrs};
use super::{bytes, socket};
use crate::os::polled::{Attempt, Done, Polled};

/// A socket for datagrams, as [`std::net::UdpSocket`].
///
/// # Pinning
///
/// Receiving and sending unmount, unless pinned.
pub struct UdpSocket {
    socket: Polled<std::net::UdpSocket>,
}

socket::descriptor!(UdpSocket, std::net::UdpSocket);

impl UdpSocket {
    /// A socket at the first of the addresses that can be had.
    ///
    /// # Errors
    ///
    /// Of the last address tried.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<Self> {
        address::first(addr, |address| {
            let socket = Polled::new(std::net::UdpSocket::bind(address)?);
            Ok(Self { socket })
        })
    }

    /// From now on only datagrams from there are received, and [`send`](Self::send) sends there.
    ///
    /// # Errors
    ///
    /// Of the last address tried.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        address::first(addr, |address| self.socket.inner().connect(address))
    }

    socket::limits!(std::net::UdpSocket);

    socket::forward! {
        /// The address that the socket is connected to.
        peer_addr() -> SocketAddr;
        /// The address of this end.
        local_addr() -> SocketAddr;
        /// Whether datagrams may be sent to all.
        set_broadcast(broadcast: bool) -> ();
        /// May datagrams be sent to all?
        broadcast() -> bool;
        /// Whether datagrams to a group come back to this machine.
        set_multicast_loop_v4(comes_back: bool) -> ();
        /// Do datagrams to a group come back to this machine?
        multicast_loop_v4() -> bool;
        /// How many hops a datagram to a group may take.
        set_multicast_ttl_v4(ttl: u32) -> ();
        /// How many hops a datagram to a group may take.
        multicast_ttl_v4() -> u32;
        /// Whether datagrams to a group come back to this machine.
        set_multicast_loop_v6(comes_back: bool) -> ();
        /// Do datagrams to a group come back to this machine?
        multicast_loop_v6() -> bool;
        /// How many hops a datagram may take.
        set_ttl(ttl: u32) -> ();
        /// How many hops a datagram may take.
        ttl() -> u32;
        /// Receives what is sent to the group.
        join_multicast_v4(group: &Ipv4Addr, interface: &Ipv4Addr) -> ();
        /// Receives what is sent to the group.
        join_multicast_v6(group: &Ipv6Addr, interface: u32) -> ();
        /// Leaves the group.
        leave_multicast_v4(group: &Ipv4Addr, interface: &Ipv4Addr) -> ();
        /// Leaves the group.
        leave_multicast_v6(group: &Ipv6Addr, interface: u32) -> ();
        /// The error that the socket has met since this was last asked.
        take_error() -> Option<io::Error>;
    }

    /// Waits for a datagram and tells who sent it. What does not fit is lost.
    ///
    /// # Errors
    ///
    /// `WouldBlock` when the read time-out is over; those of the operating system.
    #[track_caller]
    pub fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive_from(buf, RecvFlags::empty(), Location::caller())
    }

    /// [`recv_from`](Self::recv_from) that leaves the datagram where it is.
    ///
    /// # Errors
    ///
    /// As `recv_from`.
    #[track_caller]
    pub fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive_from(buf, RecvFlags::PEEK, Location::caller())
    }

    fn receive_from(
        &self,
        buf: &mut [u8],
        flags: RecvFlags,
        at: &'static Location<'static>,
    ) -> io::Result<(usize, SocketAddr)> {
        self.socket.run(Attempt::read(at), |fd| {
            let flags = flags | RecvFlags::DONTWAIT;
            let (count, _, sender) = rustix::net::recvfrom(fd, &mut *buf, flags)?;
            let sender = sender.and_then(|sender| sender.try_into().ok());
            let sender = sender.ok_or(io::ErrorKind::InvalidData)?;
            Ok(Done::perhaps_more((count, sender)))
        })
    }

    /// Sends a datagram to the first of the addresses.
    ///
    /// # Errors
    ///
    /// `InvalidInput` without an address; those of the operating system.
    #[track_caller]
    pub fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], addr: A) -> io::Result<usize> {
        let at = Location::caller();
        let address = address::only(addr)?;
        self.socket.run(Attempt::write(at), |fd| {
            let count = rustix::net::sendto(fd, buf, SendFlags::DONTWAIT, &address)?;
            Ok(Done::perhaps_more(count))
        })
    }

    /// Waits for a datagram of the connected peer.
    ///
    /// # Errors
    ///
    /// As [`recv_from`](Self::recv_from).
    #[track_caller]
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        let what = Attempt::read(Location::caller());
        let flags = RecvFlags::empty();
        self.socket
            .run(what, |fd| Ok(bytes::receive(fd, buf, flags)?.uncertain()))
    }

    /// [`recv`](Self::recv) that leaves the datagram where it is.
    ///
    /// # Errors
    ///
    /// As `recv`.
    #[track_caller]
    pub fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        let what = Attempt::read(Location::caller());
        let flags = RecvFlags::PEEK;
        self.socket
            .run(what, |fd| Ok(bytes::receive(fd, buf, flags)?.uncertain()))
    }

    /// Sends a datagram to the connected peer.
    ///
    /// # Errors
    ///
    /// Those of the operating system, of an earlier datagram too.
    #[track_caller]
    pub fn send(&self, buf: &[u8]) -> io::Result<usize> {
        let what = Attempt::write(Location::caller());
        self.socket
            .run(what, |fd| Ok(bytes::send(fd, buf)?.uncertain()))
    }
}
