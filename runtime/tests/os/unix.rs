//! Unix sockets, as std's.

use std::io::{ErrorKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::SocketAddr;

use vt_runtime::net::{Shutdown, UnixListener, UnixStream};
use vt_runtime::thread;

use super::{on_both, until_it_waits};

/// A name that nobody else has.
pub(super) fn name(stem: &str) -> SocketAddr {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("vt-test-{stem}-{}-{number}", std::process::id());
    SocketAddr::from_abstract_name(name).expect("short enough")
}

#[test]
fn connections_by_path_and_by_abstract_name() {
    on_both(1, |runtime| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let by_path = UnixListener::bind(&path).expect("a free path");
        let address = name("echo");
        let by_name = UnixListener::bind_addr(&address).expect("a free name");
        let servers: Vec<_> = [by_path, by_name]
            .into_iter()
            .map(|listener| {
                runtime.spawn(move || {
                    let mut stream = listener.incoming().next().expect("endless").expect("one");
                    let mut text = String::new();
                    stream.read_to_string(&mut text).expect("readable");
                    write!(stream, "<{text}>").expect("room");
                })
            })
            .collect();
        runtime.run(|| {
            let by_path = UnixStream::connect(&path).expect("it listens");
            let by_name = UnixStream::connect_addr(&address).expect("it listens");
            for mut stream in [by_path, by_name] {
                stream.write_all(b"text").expect("room");
                stream.shutdown(Shutdown::Write).expect("connected");
                let mut answer = String::new();
                stream.read_to_string(&mut answer).expect("readable");
                assert_eq!(answer, "<text>");
            }
        });
        for server in servers {
            server.join().expect("no panic");
        }
    });
}

#[test]
fn a_large_message_through_a_pair_is_whole() {
    on_both(1, |runtime| {
        let (one, mut other) = UnixStream::pair().expect("descriptors");
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 253) as u8).collect();
        let sent = bytes.clone();
        let writer = runtime.spawn(move || (&one).write_all(&sent).expect("somebody reads"));
        let got = runtime.run(|| {
            let mut got = Vec::new();
            other.read_to_end(&mut got).expect("readable");
            got
        });
        writer.join().expect("no panic");
        assert!(got == bytes);
    });
}

#[test]
fn a_full_queue_makes_connect_wait_without_the_carrier() {
    on_both(1, |runtime| {
        let address = name("full");
        let listener = UnixListener::bind_addr(&address).expect("a free name");
        rustix::net::listen(&listener, 0).expect("a smaller queue");
        let first = UnixStream::connect_addr(&address).expect("room for one");
        let client_address = address.clone();
        let waits = runtime.spawn(move || UnixStream::connect_addr(&client_address).map(drop));
        until_it_waits(runtime, waits.thread().id());
        let accepted = runtime.run(|| {
            let first = listener.accept().expect("a connection");
            let second = listener.accept().expect("another");
            (first, second)
        });
        waits.join().expect("no panic").expect("there is room now");
        drop((first, accepted));
    });
}

#[test]
fn shutdown_wakes_the_reader_and_a_closed_peer_is_an_error() {
    on_both(1, |runtime| {
        let (one, other) = UnixStream::pair().expect("descriptors");
        let clone = one.try_clone().expect("a descriptor");
        let reader = runtime.spawn(move || (&clone).read(&mut [0; 1]));
        until_it_waits(runtime, reader.thread().id());
        one.shutdown(Shutdown::Read).expect("connected");
        assert_eq!(reader.join().expect("no panic").expect("an end"), 0);
        drop(other);
        let error = runtime.run(|| thread::scope(|_| (&one).write_all(b"x")).expect_err("closed"));
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}
