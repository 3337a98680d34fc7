//! `UnixDatagram`: std's, whose waits unmount.

use std::ffi::OsStr;
use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::SocketAddr;
use std::panic::Location;
use std::path::Path;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketAddrAny, SocketAddrUnix};
use rustix::time::Timespec;

use super::unix_stream::to_kernel;
use super::{bytes, socket};
use crate::os::blocking;
use crate::os::polled::{Attempt, Done, Polled};

/// Datagrams within the machine, as [`std::os::unix::net::UnixDatagram`].
///
/// # Pinning
///
/// Receiving and sending unmount, unless pinned.
pub struct UnixDatagram {
    socket: Polled<std::os::unix::net::UnixDatagram>,
}

socket::descriptor!(UnixDatagram, std::os::unix::net::UnixDatagram);

impl UnixDatagram {
    /// A socket under that path.
    ///
    /// # Errors
    ///
    /// Those of the operating system: the path may be taken.
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        std::os::unix::net::UnixDatagram::bind(path).map(Self::of)
    }

    /// A socket under a path or an abstract name.
    ///
    /// # Errors
    ///
    /// Those of the operating system: the name may be taken.
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        std::os::unix::net::UnixDatagram::bind_addr(address).map(Self::of)
    }

    /// A socket without a name: it can send, and be connected.
    ///
    /// # Errors
    ///
    /// If no descriptor is left.
    pub fn unbound() -> io::Result<Self> {
        std::os::unix::net::UnixDatagram::unbound().map(Self::of)
    }

    /// Two sockets that are connected to each other.
    ///
    /// # Errors
    ///
    /// If no descriptor is left.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = std::os::unix::net::UnixDatagram::pair()?;
        Ok((Self::of(one), Self::of(other)))
    }

    fn of(socket: std::os::unix::net::UnixDatagram) -> Self {
        Self {
            socket: Polled::new(socket),
        }
    }

    /// From now on only datagrams from there are received, and [`send`](Self::send) sends there.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.socket.inner().connect(path)
    }

    /// [`connect`](Self::connect) by a path or an abstract name.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn connect_addr(&self, address: &SocketAddr) -> io::Result<()> {
        self.socket.inner().connect_addr(address)
    }

    socket::limits!(std::os::unix::net::UnixDatagram);

    socket::forward! {
        /// The address that the socket is connected to.
        peer_addr() -> SocketAddr;
        /// The address of this end.
        local_addr() -> SocketAddr;
        /// Closes one direction or both. Who waits for it, on whichever handle, goes on.
        shutdown(how: Shutdown) -> ();
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
        self.socket.run(
            Attempt::read(Location::caller()),
            |fd| match rustix::net::recvfrom(fd, &mut *buf, RecvFlags::DONTWAIT) {
                Err(Errno::AGAIN) if is_shut(fd) => Ok(Done::perhaps_more((0, to_std(None)?))),
                received => {
                    let (count, _, sender) = received?;
                    Ok(Done::perhaps_more((count, to_std(sender)?)))
                }
            },
        )
    }

    /// Waits for a datagram.
    ///
    /// # Errors
    ///
    /// As [`recv_from`](Self::recv_from).
    #[track_caller]
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        let what = Attempt::read(Location::caller());
        self.socket.run(what, |fd| {
            match bytes::receive(fd, buf, RecvFlags::empty()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && is_shut(fd) => {
                    Ok(Done::perhaps_more(0))
                }
                received => Ok(received?.uncertain()),
            }
        })
    }

    /// Sends a datagram to the connected peer, waiting while its queue is full.
    ///
    /// # Errors
    ///
    /// `WouldBlock` when the write time-out is over; those of the operating system.
    #[track_caller]
    pub fn send(&self, buf: &[u8]) -> io::Result<usize> {
        let what = Attempt::write(Location::caller());
        self.socket
            .run(what, |fd| Ok(bytes::send(fd, buf)?.uncertain()))
    }

    /// Sends a datagram to the socket of that path, waiting while its queue is full.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    #[track_caller]
    pub fn send_to<P: AsRef<Path>>(&self, buf: &[u8], path: P) -> io::Result<usize> {
        self.send_to_addr(buf, &SocketAddr::from_pathname(path)?)
    }

    /// [`send_to`](Self::send_to) by a path or an abstract name.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    #[track_caller]
    pub fn send_to_addr(&self, buf: &[u8], address: &SocketAddr) -> io::Result<usize> {
        let at = Location::caller();
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match rustix::net::sendto(self.socket.inner(), buf, flags, &to_kernel(address)?) {
            // No readiness tells when a socket that this one is not connected to has room: only a blocking send waits.
            Err(Errno::AGAIN) if !self.socket.limits().is_nonblocking() => {
                let (bytes, address) = (buf.to_vec(), address.clone());
                let socket = self.socket.inner().try_clone()?;
                blocking::abandonable(move || socket.send_to_addr(&bytes, &address), at)?
            }
            sent => Ok(sent?),
        }
    }
}

/// Was receiving shut down? A receive that waits returns then; one that does not only says that nothing is there.
fn is_shut(fd: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::RDHUP)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let _ = rustix::event::poll(&mut fds, Some(&now));
    fds[0].revents().contains(PollFlags::RDHUP)
}

fn to_std(sender: Option<SocketAddrAny>) -> io::Result<SocketAddr> {
    let sender = sender.map(SocketAddrUnix::try_from).transpose()?;
    let (path, name) = match &sender {
        Some(sender) => (sender.path_bytes(), sender.abstract_name()),
        None => (None, None),
    };
    match (path, name) {
        (_, Some(name)) => SocketAddr::from_abstract_name(name),
        // The empty path is the address of a socket without a name.
        (path, None) => SocketAddr::from_pathname(OsStr::from_bytes(path.unwrap_or_default())),
    }
}
