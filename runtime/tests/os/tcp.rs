//! What `TcpStream` and `TcpListener` do, as std's do it.

use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::time::Duration;

use vt_runtime::net::{self, Shutdown, TcpListener, TcpStream};
use vt_runtime::thread;

use super::{echo, listener, on_both, pair};

#[test]
fn many_connections_share_few_carriers() {
    on_both(2, |runtime| {
        let (listener, address) = listener();
        let server = runtime.spawn(move || {
            let handles: Vec<_> = listener
                .incoming()
                .take(200)
                .map(|stream| thread::spawn(move || echo(stream.expect("accepted"))))
                .collect();
            handles
                .into_iter()
                .for_each(|handle| handle.join().expect("no panic"));
        });
        let clients: Vec<_> = (0..200_u32)
            .map(|number| {
                runtime.spawn(move || {
                    let mut stream = TcpStream::connect(address).expect("it listens");
                    for round in 0..20_u32 {
                        let sent = (number * 1000 + round).to_be_bytes();
                        stream.write_all(&sent).expect("the server reads");
                        let mut got = [0; 4];
                        stream.read_exact(&mut got).expect("the server answers");
                        assert_eq!(got, sent);
                    }
                })
            })
            .collect();
        clients
            .into_iter()
            .for_each(|client| client.join().expect("no panic"));
        server.join().expect("no panic");
    });
}

/// Connections that come one by one, each after the last has been answered, do not all live with their acceptor.
#[test]
fn a_slow_ramp_of_connections_is_spread_over_the_carriers() {
    const CONNECTIONS: usize = 300;
    on_both(2, |runtime| {
        let (listener, address) = listener();
        let server = runtime.spawn(move || {
            for stream in listener.incoming().take(CONNECTIONS) {
                let mut stream = stream.expect("accepted");
                thread::spawn(move || {
                    let home = thread::current_carrier().expect("a virtual thread");
                    let home = u8::try_from(home).expect("of two");
                    // It stays for as long as its client does.
                    while stream.read(&mut [0; 1]).is_ok_and(|count| count == 1) {
                        stream.write_all(&[home]).expect("the client reads");
                    }
                });
            }
        });
        let mut homes = [0; 2];
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                let mut client = std::net::TcpStream::connect(address).expect("it listens");
                client.write_all(b"?").expect("the server reads");
                let mut home = [0; 1];
                client.read_exact(&mut home).expect("the server answers");
                homes[usize::from(home[0])] += 1;
                client
            })
            .collect();
        assert!(
            homes.iter().all(|&count| count >= CONNECTIONS / 5),
            "{homes:?}"
        );
        drop(clients);
        server.join().expect("no panic");
    });
}

#[test]
fn os_threads_use_the_same_types() {
    on_both(1, |runtime| {
        let (listener, address) = listener();
        let server = runtime.spawn(move || echo(listener.accept().expect("a connection").0));
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(b"from an OS thread").expect("written");
        stream.shutdown(Shutdown::Write).expect("connected");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answered");
        assert_eq!(answer, "from an OS thread");
        server.join().expect("no panic");
        let (listener, address) = super::listener();
        let client = runtime.spawn(move || echo(TcpStream::connect(address).expect("it listens")));
        let (mut stream, peer) = listener.accept().expect("a connection");
        assert_eq!(peer, stream.peer_addr().expect("connected"));
        write!(stream, "{}-{}", 1, 2).expect("written");
        let mut answer = [0; 3];
        stream.read_exact(&mut answer).expect("answered");
        assert_eq!(&answer, b"1-2");
        drop(stream);
        client.join().expect("no panic");
    });
}

#[test]
fn a_slow_reader_gets_every_byte() {
    on_both(1, |runtime| {
        let (mut ours, mut other) = pair();
        const SIZE: usize = 8 << 20;
        let writer = runtime.spawn(move || {
            let bytes: Vec<u8> = (0..SIZE).map(|n| (n % 251) as u8).collect();
            ours.write_all(&bytes).expect("the other end reads");
        });
        let neighbour = runtime.spawn(|| 7);
        assert_eq!(neighbour.join().expect("the carrier is free"), 7);
        let mut at = 0;
        let mut buffer = [0; 10_007];
        loop {
            let count = other.read(&mut buffer).expect("no error");
            if count == 0 {
                break;
            }
            for byte in &buffer[..count] {
                assert_eq!(usize::from(*byte), at % 251);
                at += 1;
            }
        }
        assert_eq!(at, SIZE);
        writer.join().expect("no panic");
    });
}

#[test]
fn vectored_operations_move_all_parts() {
    on_both(1, |runtime| {
        let (ours, mut other) = pair();
        other.write_all(b"abcdef").expect("written");
        let read = runtime.run(|| {
            let (mut first, mut second) = ([0; 2], [0; 4]);
            let mut parts = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
            let read = (&ours).read_vectored(&mut parts).expect("bytes are there");
            let parts = [
                IoSlice::new(&first),
                IoSlice::new(b"|"),
                IoSlice::new(&second),
            ];
            assert_eq!((&ours).write_vectored(&parts).expect("room"), 7);
            read
        });
        assert_eq!(read, 6);
        drop(ours);
        let mut answer = String::new();
        other.read_to_string(&mut answer).expect("readable");
        assert_eq!(answer, "ab|cdef");
    });
}

#[test]
fn peek_leaves_the_bytes() {
    on_both(1, |runtime| {
        let (mut ours, mut other) = pair();
        let reader = runtime.spawn(move || {
            let mut buffer = [0; 16];
            assert_eq!(ours.peek(&mut buffer).expect("bytes come"), 5);
            assert_eq!(ours.peek(&mut buffer).expect("they stay"), 5);
            assert_eq!(ours.read(&mut buffer).expect("they stay"), 5);
            assert_eq!(&buffer[..5], b"hello");
        });
        other.write_all(b"hello").expect("written");
        reader.join().expect("no panic");
    });
}

#[test]
fn the_end_of_a_stream_is_seen_in_every_order() {
    on_both(1, |runtime| {
        for bytes in [&b""[..], &b"x"[..], &b"a little more"[..]] {
            let (mut ours, mut other) = pair();
            // First a wait, so that the descriptor is registered; then bytes and end come together.
            let reader = runtime.spawn(move || {
                let mut all = Vec::new();
                let mut buffer = [0; 64];
                loop {
                    match ours.read(&mut buffer).expect("no error") {
                        0 => break,
                        count => all.extend_from_slice(&buffer[..count]),
                    }
                }
                assert_eq!(ours.read(&mut buffer).expect("still the end"), 0);
                all
            });
            other.write_all(bytes).expect("written");
            drop(other);
            assert_eq!(reader.join().expect("no panic"), bytes);
        }
    });
}

#[test]
fn a_reset_is_an_error() {
    on_both(1, |runtime| {
        let (mut ours, other) = pair();
        let reader = runtime.spawn(move || {
            ours.write_all(b"never read").expect("room");
            let mut buffer = [0; 16];
            ours.read(&mut buffer).map_err(|error| error.kind())
        });
        // Closing with unread bytes resets the connection.
        let mut one = [0; 1];
        (&other).read_exact(&mut one).expect("bytes come");
        drop(other);
        assert_eq!(
            reader.join().expect("no panic"),
            Err(ErrorKind::ConnectionReset)
        );
    });
}

#[test]
fn clones_share_the_connection_and_its_limits() {
    on_both(1, |runtime| {
        let (ours, mut other) = pair();
        let clone = ours.try_clone().expect("a descriptor");
        clone
            .set_read_timeout(Some(Duration::from_millis(7)))
            .expect("not zero");
        assert_eq!(
            ours.read_timeout().expect("always"),
            Some(Duration::from_millis(7))
        );
        clone.set_read_timeout(None).expect("always");
        let reader = runtime.spawn(move || {
            let mut buffer = [0; 1];
            (&clone).read_exact(&mut buffer).expect("a byte comes");
            drop(clone);
            buffer[0]
        });
        other.write_all(b"1").expect("written");
        assert_eq!(reader.join().expect("no panic"), b'1');
        other.write_all(b"2").expect("written");
        let mut buffer = [0; 1];
        runtime.run(|| (&ours).read_exact(&mut buffer).expect("the clone is gone"));
        assert_eq!(buffer, *b"2");
    });
}

#[test]
fn std_streams_go_in_and_out_with_their_settings() {
    let (ours, other) = pair();
    other
        .set_read_timeout(Some(Duration::from_secs(3)))
        .expect("not zero");
    other.set_nonblocking(true).expect("a socket");
    let other = TcpStream::from_std(other).expect("a socket");
    assert_eq!(
        other.read_timeout().expect("always"),
        Some(Duration::from_secs(3))
    );
    let mut buffer = [0; 1];
    let error = (&other).read(&mut buffer).expect_err("non-blocking");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    other.set_nonblocking(false).expect("a socket");
    let mut std_stream = other.into_std().expect("no failure on Linux");
    (&ours).write_all(b"!").expect("room");
    std_stream.read_exact(&mut buffer).expect("it blocks");
    let (listener, address) = listener();
    let std_listener = listener.into_std().expect("a socket");
    let client = std::net::TcpStream::connect(address).expect("it listens");
    std_listener.accept().expect("it blocks until one is there");
    drop(client);
    let listener = TcpListener::from_std(std_listener).expect("a socket");
    listener.set_nonblocking(true).expect("a flag");
    let error = listener.accept().expect_err("nobody connects");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}

#[test]
fn names_are_looked_up_without_the_carrier() {
    on_both(1, |runtime| {
        let (listener, address) = listener();
        let server = runtime.spawn(move || echo(listener.accept().expect("a connection").0));
        runtime.run(|| {
            let mut found =
                net::lookup(("localhost", address.port())).expect("it is in every hosts file");
            assert!(found.all(|found| found.ip().is_loopback()));
            net::lookup("localhost:notaport").expect_err("not a port");
            let stream = TcpStream::connect(format!("localhost:{}", address.port()));
            drop(stream.expect("one of its addresses answers"));
        });
        server.join().expect("no panic");
        // A job counts as finished a moment after its owner has its result.
        super::until(|| runtime.metrics().offload.finished >= 2);
    });
}

#[test]
fn a_refused_connection_and_a_bad_address_are_errors() {
    on_both(1, |runtime| {
        let (listener, address) = listener();
        drop(listener);
        runtime.run(|| {
            let error = TcpStream::connect(address).expect_err("nobody listens");
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
            let error = TcpStream::connect_timeout(&address, Duration::ZERO).expect_err("zero");
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            TcpStream::connect("no port here").expect_err("not an address");
            let none: &[std::net::SocketAddr] = &[];
            let error = TcpStream::connect(none).expect_err("no address");
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        });
    });
}
