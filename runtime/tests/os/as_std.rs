//! The same code with std's types and with ours: only the import differs. What std's documentation shows of each method
//! is asked of both.

use std::io::ErrorKind;

use super::on_both;

/// The code, in a module that imports one or the other.
macro_rules! with {
    ($name:ident: $net:path, $unix:path) => {
        mod $name {
            use std::io::{self, Read, Write};
            use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4};
            use std::os::linux::net::SocketAddrExt;
            use std::time::Duration;

            use $net::{TcpListener, TcpStream, UdpSocket};
            use $unix::{UnixDatagram, UnixListener, UnixStream};

            use super::kind;

            pub(super) fn tcp() -> io::Result<()> {
                let taken = TcpListener::bind("127.0.0.1:0")?;
                let taken = taken.local_addr()?;
                // The second is tried where the first fails.
                let addresses = [
                    SocketAddr::from(([192, 0, 2, 1], 1)),
                    SocketAddr::from(([127, 0, 0, 1], 0)),
                ];
                let listener = TcpListener::bind(&addresses[..])?;
                let port = listener.local_addr()?.port();
                let expected = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
                assert_eq!(listener.local_addr()?, expected);
                assert_ne!(expected, taken);
                listener.set_ttl(100)?;
                assert_eq!(listener.ttl()?, 100);
                assert!(listener.take_error()?.is_none());
                let second = listener.try_clone()?;
                listener.set_nonblocking(true)?;
                assert_eq!(kind(listener.accept()), super::ErrorKind::WouldBlock);
                listener.set_nonblocking(false)?;
                drop(listener);

                let mut stream = TcpStream::connect(expected)?;
                assert_eq!(stream.peer_addr()?, expected);
                assert_eq!(stream.local_addr()?.ip(), IpAddr::V4(Ipv4Addr::LOCALHOST));
                let (mut other, address) = second.accept()?;
                assert_eq!(address, stream.local_addr()?);

                stream.set_nodelay(true)?;
                assert!(stream.nodelay()?);
                stream.set_ttl(101)?;
                assert_eq!(stream.ttl()?, 101);
                assert!(stream.take_error()?.is_none());
                stream.set_read_timeout(None)?;
                assert_eq!(stream.read_timeout()?, None);
                stream.set_write_timeout(Some(Duration::from_secs(9)))?;
                assert_eq!(stream.write_timeout()?, Some(Duration::from_secs(9)));
                let zero = Some(Duration::ZERO);
                assert_eq!(
                    kind(stream.set_read_timeout(zero)),
                    super::ErrorKind::InvalidInput
                );
                assert_eq!(
                    kind(stream.set_write_timeout(zero)),
                    super::ErrorKind::InvalidInput
                );
                stream.set_read_timeout(Some(Duration::from_millis(20)))?;
                assert_eq!(kind(stream.read(&mut [0; 1])), super::ErrorKind::WouldBlock);

                other.write_all(b"peeked")?;
                stream.set_read_timeout(None)?;
                let mut buffer = [0; 10];
                assert_eq!(stream.peek(&mut buffer)?, 6);
                assert_eq!(stream.peek(&mut buffer)?, 6);
                assert_eq!(stream.read(&mut buffer)?, 6);
                assert_eq!(&buffer[..6], b"peeked");
                let mut clone = stream.try_clone()?;
                clone.write_all(b"by the clone")?;
                stream.set_nonblocking(true)?;
                assert_eq!(kind(clone.read(&mut buffer)), super::ErrorKind::WouldBlock);
                clone.set_nonblocking(false)?;
                stream.shutdown(Shutdown::Write)?;
                assert_eq!(kind(clone.write(b"?")), super::ErrorKind::BrokenPipe);
                let mut text = String::new();
                other.read_to_string(&mut text)?;
                assert_eq!(text, "by the clone");
                assert_eq!(other.read(&mut buffer)?, 0);
                write!(other, "{} {}", 1, 2)?;
                other.flush()?;
                drop(other);
                let mut bytes = Vec::new();
                assert_eq!(stream.read_to_end(&mut bytes)?, 3);
                assert_eq!(bytes, b"1 2");

                let limit = Duration::from_secs(9);
                let stream = TcpStream::connect_timeout(&expected, limit)?;
                let zero = TcpStream::connect_timeout(&expected, Duration::ZERO);
                assert_eq!(kind(zero), super::ErrorKind::InvalidInput);
                let mut incoming = second.incoming();
                let other = incoming.next().expect("endless")?;
                assert_eq!(other.peer_addr()?, stream.local_addr()?);
                drop(other);
                drop(second);
                let refused = TcpStream::connect(expected);
                assert_eq!(kind(refused), super::ErrorKind::ConnectionRefused);
                assert_eq!(
                    kind(TcpStream::connect("no port")),
                    super::ErrorKind::InvalidInput
                );
                Ok(())
            }

            pub(super) fn udp() -> io::Result<()> {
                let socket = UdpSocket::bind("127.0.0.1:0")?;
                let address = socket.local_addr()?;
                assert_eq!(kind(socket.peer_addr()), super::ErrorKind::NotConnected);
                socket.set_broadcast(false)?;
                assert!(!socket.broadcast()?);
                socket.set_ttl(42)?;
                assert_eq!(socket.ttl()?, 42);
                socket.set_multicast_loop_v4(false)?;
                assert!(!socket.multicast_loop_v4()?);
                socket.set_multicast_ttl_v4(42)?;
                assert_eq!(socket.multicast_ttl_v4()?, 42);
                assert!(socket.take_error()?.is_none());
                socket.set_read_timeout(Some(Duration::from_millis(20)))?;
                let zero = Some(Duration::ZERO);
                assert_eq!(
                    kind(socket.set_read_timeout(zero)),
                    super::ErrorKind::InvalidInput
                );
                assert_eq!(
                    kind(socket.recv_from(&mut [0; 1])),
                    super::ErrorKind::WouldBlock
                );
                socket.set_read_timeout(None)?;
                let other = UdpSocket::bind("127.0.0.1:0")?;
                assert_eq!(other.send_to(b"a datagram", address)?, 10);
                let mut buffer = [0; 10];
                assert_eq!(socket.peek_from(&mut buffer)?, (10, other.local_addr()?));
                // What does not fit is lost.
                assert_eq!(
                    socket.recv_from(&mut buffer[..4])?,
                    (4, other.local_addr()?)
                );
                socket.connect(other.local_addr()?)?;
                assert_eq!(socket.peer_addr()?, other.local_addr()?);
                socket.try_clone()?.send(b"back")?;
                assert_eq!(other.recv_from(&mut buffer)?, (4, address));
                other.send_to(b"again", address)?;
                assert_eq!(socket.peek(&mut buffer)?, 5);
                assert_eq!(socket.recv(&mut buffer)?, 5);
                socket.set_nonblocking(true)?;
                assert_eq!(kind(socket.recv(&mut buffer)), super::ErrorKind::WouldBlock);
                Ok(())
            }

            pub(super) fn unix() -> io::Result<()> {
                let folder = tempfile::tempdir()?;
                let path = folder.path().join("socket");
                let listener = UnixListener::bind(&path)?;
                assert_eq!(listener.local_addr()?.as_pathname(), Some(&*path));
                assert_eq!(kind(UnixListener::bind(&path)), super::ErrorKind::AddrInUse);
                let mut stream = UnixStream::connect(&path)?;
                assert_eq!(stream.peer_addr()?.as_pathname(), Some(&*path));
                assert!(stream.local_addr()?.is_unnamed());
                let (mut other, address) = listener.accept()?;
                assert!(address.is_unnamed());
                stream.set_read_timeout(Some(Duration::from_millis(20)))?;
                assert_eq!(stream.read_timeout()?, Some(Duration::from_millis(20)));
                assert_eq!(kind(stream.read(&mut [0; 1])), super::ErrorKind::WouldBlock);
                let zero = Some(Duration::ZERO);
                assert_eq!(
                    kind(stream.set_write_timeout(zero)),
                    super::ErrorKind::InvalidInput
                );
                stream.set_read_timeout(None)?;
                assert!(stream.take_error()?.is_none());
                stream.try_clone()?.write_all(b"hello")?;
                stream.shutdown(Shutdown::Write)?;
                let mut text = String::new();
                other.read_to_string(&mut text)?;
                assert_eq!(text, "hello");
                drop(UnixStream::connect(&path)?);
                let connection = (&listener).into_iter().next().expect("endless");
                connection?.set_nonblocking(true)?;

                let (mut one, mut two) = UnixStream::pair()?;
                one.write_all(b"pair")?;
                drop(one);
                let mut bytes = Vec::new();
                two.read_to_end(&mut bytes)?;
                assert_eq!(bytes, b"pair");

                let unique = format!("vt-as-std-{}-{}", std::process::id(), module_path!());
                let name = std::os::unix::net::SocketAddr::from_abstract_name(unique)?;
                let socket = UnixDatagram::bind_addr(&name)?;
                let (_, other) = (socket.local_addr()?, UnixDatagram::unbound()?);
                assert!(other.local_addr()?.is_unnamed());
                other.connect_addr(&name)?;
                assert_eq!(other.send(b"by name")?, 7);
                let mut buffer = [0; 10];
                let (count, sender) = socket.recv_from(&mut buffer)?;
                assert_eq!(
                    (&buffer[..count], sender.is_unnamed()),
                    (&b"by name"[..], true)
                );
                socket.set_nonblocking(true)?;
                assert_eq!(kind(socket.recv(&mut buffer)), super::ErrorKind::WouldBlock);
                let (one, two) = UnixDatagram::pair()?;
                one.send(b"pair")?;
                assert_eq!(two.recv(&mut buffer)?, 4);
                let gone = UnixStream::connect(folder.path().join("nothing"));
                assert_eq!(kind(gone), super::ErrorKind::NotFound);
                Ok(())
            }
        }
    };
}

with!(std_types: std::net, std::os::unix::net);
with!(our_types: vt_runtime::net, vt_runtime::net);

fn kind<T>(result: std::io::Result<T>) -> ErrorKind {
    match result {
        Ok(_) => panic!("this should have failed"),
        Err(error) => error.kind(),
    }
}

#[test]
fn tcp() {
    std_types::tcp().expect("std's own");
    our_types::tcp().expect("on an OS thread");
    on_both(1, |runtime| {
        runtime.run(our_types::tcp).expect("on a virtual thread")
    });
}

#[test]
fn udp() {
    std_types::udp().expect("std's own");
    our_types::udp().expect("on an OS thread");
    on_both(1, |runtime| {
        runtime.run(our_types::udp).expect("on a virtual thread")
    });
}

#[test]
fn unix() {
    std_types::unix().expect("std's own");
    our_types::unix().expect("on an OS thread");
    on_both(1, |runtime| {
        runtime.run(our_types::unix).expect("on a virtual thread")
    });
}
