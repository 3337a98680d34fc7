//! Sockets that unmount, with std's names: change `use std::net` to `use vt_runtime::net`.
//!
//! The types without I/O are std's own, re-exported so that the change of the import is enough. On a plain OS thread
//! every operation blocks as in std.
//!
//! ```
//! use std::io::{Read, Write};
//! use vt_runtime::net::{TcpListener, TcpStream};
//! use vt_runtime::thread;
//!
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let address = listener.local_addr()?;
//! let server = thread::spawn(move || {
//!     let (mut stream, _) = listener.accept().unwrap();
//!     let mut request = String::new();
//!     stream.read_to_string(&mut request).unwrap();
//!     stream.write_all(request.to_uppercase().as_bytes()).unwrap();
//! });
//! let mut stream = TcpStream::connect(address)?;
//! stream.write_all(b"ping")?;
//! stream.shutdown(vt_runtime::net::Shutdown::Write)?;
//! let mut answer = String::new();
//! stream.read_to_string(&mut answer)?;
//! assert_eq!(answer, "PING");
//! server.join().unwrap();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Pinning
//!
//! Reads, writes, accepts and connects unmount the calling virtual thread until the descriptor is ready; a pinned
//! one keeps its carrier and is reported with the operation `io_read`, `io_write`, `accept` or `connect`.
//!
//! # Errors
//!
//! Those of std. An interrupt ends a wait with [`crate::io::Interrupted`] inside an `io::Error` of the kind `Other`.
//! Where the user's epoll watches are used up (`/proc/sys/fs/epoll/max_user_watches`), an operation that would have to wait
//! fails with the kind `StorageFull` instead; it has taken nothing, and may be tried again.

mod address;
mod bytes;
mod socket;
mod tcp_listener;
mod tcp_stream;
mod udp_socket;
mod unix_datagram;
mod unix_listener;
mod unix_stream;

pub use std::net::{
    AddrParseError, IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, SocketAddrV4, SocketAddrV6,
};

pub use address::{ToSocketAddrs, lookup};
pub use tcp_listener::{Incoming, TcpListener};
pub use tcp_stream::TcpStream;
pub use udp_socket::UdpSocket;
pub use unix_datagram::UnixDatagram;
pub use unix_listener::{Incoming as UnixIncoming, UnixListener};
pub use unix_stream::UnixStream;

/// Connections that may wait to be accepted; the kernel takes less if `somaxconn` says so.
const QUEUE: i32 = 4096;
