//! `UdpSocket` and `UnixDatagram`, as std's.

use std::io::ErrorKind;
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt;
use std::time::Duration;

use vt_runtime::net::{UdpSocket, UnixDatagram};
use vt_runtime::{Runtime, thread};

use super::unix::name;
use super::{on_both, until_it_waits};

#[test]
fn datagrams_go_both_ways() {
    on_both(1, |runtime| {
        runtime.run(|| {
            let server = UdpSocket::bind("127.0.0.1:0").expect("a free port");
            let address = server.local_addr().expect("bound");
            let echo = thread::spawn(move || {
                let mut buffer = [0; 32];
                for _ in 0..100 {
                    let (count, sender) = server.recv_from(&mut buffer).expect("datagrams come");
                    server.send_to(&buffer[..count], sender).expect("room");
                }
            });
            let client = UdpSocket::bind(("127.0.0.1", 0)).expect("a free port");
            client.connect(address).expect("an address");
            for number in 0..50_u32 {
                client.send(&number.to_be_bytes()).expect("room");
                let mut answer = [0; 32];
                assert_eq!(client.peek(&mut answer).expect("an answer"), 4);
                assert_eq!(client.recv(&mut answer).expect("the same"), 4);
                assert_eq!(answer[..4], number.to_be_bytes());
            }
            let other = UdpSocket::bind(("127.0.0.1", 0)).expect("a free port");
            for number in 0..50_u8 {
                other.send_to(&[number; 3], address).expect("room");
                let mut answer = [0; 32];
                let peeked = other.peek_from(&mut answer).expect("an answer");
                assert_eq!(peeked, (3, address));
                let got = other.recv_from(&mut answer).expect("the same");
                assert_eq!((got, &answer[..3]), (peeked, &[number; 3][..]));
            }
            echo.join().expect("no panic");
        });
    });
}

#[test]
fn nothing_sent_is_a_time_out_and_a_closed_peer_an_error() {
    on_both(1, |runtime| {
        runtime.run(|| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
            socket
                .set_read_timeout(Some(Duration::from_millis(20)))
                .expect("not zero");
            let error = socket.recv(&mut [0; 1]).expect_err("nobody sends");
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            let gone = UdpSocket::bind("127.0.0.1:0").expect("a free port");
            socket
                .connect(gone.local_addr().expect("bound"))
                .expect("an address");
            drop(gone);
            socket.set_read_timeout(None).expect("always");
            socket.send(b"anybody?").expect("sent all the same");
            let error = socket.recv(&mut [0; 1]).expect_err("nobody is there");
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        });
    });
}

#[test]
fn datagrams_within_the_machine_tell_who_sent_them() {
    on_both(1, |runtime| {
        let folder = tempfile::tempdir().expect("a folder");
        runtime.run(|| {
            let path = folder.path().join("socket");
            let by_path = UnixDatagram::bind(&path).expect("a free path");
            let address = name("datagrams");
            let by_name = UnixDatagram::bind_addr(&address).expect("a free name");
            let nobody = UnixDatagram::unbound().expect("a descriptor");
            let mut buffer = [0; 16];
            by_name.send_to(b"to a path", &path).expect("room");
            let (count, sender) = by_path.recv_from(&mut buffer).expect("it is there");
            assert_eq!(&buffer[..count], b"to a path");
            assert_eq!(sender.as_abstract_name(), address.as_abstract_name());
            by_path.send_to_addr(b"to a name", &address).expect("room");
            let (count, sender) = by_name.recv_from(&mut buffer).expect("it is there");
            assert_eq!(&buffer[..count], b"to a name");
            assert_eq!(sender.as_pathname(), Some(&*path));
            nobody.connect(&path).expect("it is there");
            nobody.send(b"from nobody").expect("room");
            let (count, sender) = by_path.recv_from(&mut buffer).expect("it is there");
            assert_eq!(&buffer[..count], b"from nobody");
            assert!(sender.is_unnamed(), "{sender:?}");
            by_path
                .set_read_timeout(Some(Duration::from_millis(5)))
                .expect("not zero");
            let error = by_path.recv(&mut buffer).expect_err("nothing comes");
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
        });
    });
}

/// With a full queue at the other end, connected or not, the sender waits without the carrier, and nothing is lost.
#[test]
fn a_full_queue_makes_the_sender_wait_without_the_carrier() {
    const COUNT: u32 = 5_000;
    let receive_all =
        |runtime: &Runtime, receiver: UnixDatagram, sender: thread::JoinHandle<()>| {
            until_it_waits(runtime, sender.thread().id());
            let receiver = runtime.spawn(move || {
                for number in 0..COUNT {
                    let mut bytes = [0; 8];
                    assert_eq!(receiver.recv(&mut bytes).expect("it comes"), 4);
                    assert_eq!(bytes[..4], number.to_be_bytes());
                }
            });
            receiver.join().expect("no panic");
            sender.join().expect("no panic");
        };
    on_both(1, |runtime| {
        let (ours, theirs) = UnixDatagram::pair().expect("descriptors");
        let sender = runtime.spawn(move || {
            for number in 0..COUNT {
                ours.send(&number.to_be_bytes()).expect("room comes");
            }
        });
        receive_all(runtime, theirs, sender);
        let address = name("full");
        let theirs = UnixDatagram::bind_addr(&address).expect("a free name");
        let sender = runtime.spawn(move || {
            let ours = UnixDatagram::unbound().expect("a descriptor");
            for number in 0..COUNT {
                ours.send_to_addr(&number.to_be_bytes(), &address)
                    .expect("room comes");
            }
        });
        receive_all(runtime, theirs, sender);
    });
}

#[test]
fn shutdown_wakes_who_receives() {
    on_both(1, |runtime| {
        let (ours, _theirs) = UnixDatagram::pair().expect("descriptors");
        let clone = ours.try_clone().expect("a descriptor");
        let receiver = runtime.spawn(move || clone.recv(&mut [0; 1]));
        until_it_waits(runtime, receiver.thread().id());
        ours.shutdown(Shutdown::Read).expect("connected");
        assert_eq!(receiver.join().expect("no panic").expect("an end"), 0);
    });
}
