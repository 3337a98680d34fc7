//! Descriptors come and go: nothing leaks, and nothing reaches the next owner of a number.

#![expect(
    unsafe_code,
    reason = "one test closes a descriptor that others still use"
)]

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::sync::mpsc;
use std::time::Duration;

use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::{Runtime, pinned, thread};

use super::{
    echo, in_its_own_process, listener, on_both, pair, sockets, until_it_waits, within_limit,
};

#[test]
fn a_stream_moves_to_another_carrier_while_the_first_is_pinned() {
    on_both(2, |runtime| {
        let (ours, mut other) = pair();
        let on = |carrier| thread::Builder::new().carrier(carrier);
        // The first carrier learns the stream by a wait on it.
        let first = on(0)
            .spawn_in(runtime, move || {
                let mut byte = [0; 1];
                (&ours).read_exact(&mut byte).expect("a byte comes");
                ours
            })
            .expect("carrier 0");
        other.write_all(b"1").expect("written");
        let ours = first.join().expect("no panic");
        let (release, released) = mpsc::channel::<()>();
        let pinned = on(0)
            .spawn_in(runtime, move || {
                pinned::critical("holds carrier 0", || {
                    // Blocks the OS thread: not even readiness is collected there.
                    released.recv().expect_err("the test lets go");
                });
            })
            .expect("carrier 0");
        let second = on(1)
            .spawn_in(runtime, move || {
                let mut bytes = [0; 2];
                for _ in 0..100 {
                    (&ours).read_exact(&mut bytes).expect("bytes come");
                    (&ours).write_all(&bytes).expect("room");
                }
            })
            .expect("carrier 1");
        for round in 0..100_u8 {
            other.write_all(&[round, 1]).expect("written");
            let mut answer = [0; 2];
            other.read_exact(&mut answer).expect("answered");
            assert_eq!(answer, [round, 1]);
        }
        second.join().expect("no panic");
        drop(release);
        pinned.join().expect("no panic");
    });
}

#[test]
fn a_pool_hands_streams_from_thread_to_thread() {
    on_both(2, |runtime| {
        let (listener, address) = listener();
        let server = runtime.spawn(move || {
            let handles: Vec<_> = (0..4)
                .map(|_| {
                    let (stream, _) = listener.accept().expect("a connection");
                    thread::spawn(move || echo(stream))
                })
                .collect();
            handles
                .into_iter()
                .for_each(|handle| handle.join().expect("no panic"));
        });
        let pool: Vec<_> = (0..4)
            .map(|_| TcpStream::connect(address).expect("it listens"))
            .collect();
        let pool = std::sync::Arc::new(parking_lot::Mutex::new(pool));
        let users: Vec<_> = (0..64_u32)
            .map(|number| {
                let pool = std::sync::Arc::clone(&pool);
                runtime.spawn(move || {
                    for round in 0..20 {
                        let mut stream = loop {
                            let taken = pool.lock().pop();
                            match taken {
                                Some(stream) => break stream,
                                None => thread::yield_now(),
                            }
                        };
                        let sent = (number * 100 + round).to_be_bytes();
                        stream.write_all(&sent).expect("the server reads");
                        let mut got = [0; 4];
                        stream.read_exact(&mut got).expect("the server answers");
                        assert_eq!(got, sent);
                        pool.lock().push(stream);
                    }
                })
            })
            .collect();
        users
            .into_iter()
            .for_each(|user| user.join().expect("no panic"));
        pool.lock().clear();
        server.join().expect("no panic");
    });
}

#[test]
fn a_number_used_again_gets_nothing_meant_for_the_old_owner() {
    on_both(1, |runtime| {
        runtime.run(|| {
            for _ in 0..200 {
                let (ours, mut other) = pair();
                let duplicate = ours.try_clone().expect("a descriptor");
                other.write_all(b"1").expect("written");
                (&ours).read_exact(&mut [0; 1]).expect("a byte is there");
                ours.set_read_timeout(Some(Duration::from_micros(1)))
                    .expect("not zero");
                // Registers it, and leaves a waiter behind.
                let error = (&ours).read(&mut [0; 1]).expect_err("nothing comes");
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                drop(ours);
                // The duplicate keeps the file open; the number is free for the next.
                other.write_all(b"2").expect("written");
                let (next, mut peer) = pair();
                next.set_read_timeout(Some(Duration::from_micros(50)))
                    .expect("not zero");
                let error = (&next).read(&mut [0; 1]).expect_err("nothing comes");
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                peer.write_all(b"3").expect("written");
                next.set_read_timeout(None).expect("always");
                let mut byte = [0; 1];
                (&next).read_exact(&mut byte).expect("its own byte");
                assert_eq!(byte, *b"3");
                (&duplicate).read_exact(&mut byte).expect("its own byte");
                assert_eq!(byte, *b"2");
            }
        });
    });
}

/// In processes of their own, since it counts descriptors and lowers their limit.
#[test]
fn connections_that_come_and_go_leave_no_descriptor() {
    const CHILD: &str = "VT_TEST_DESCRIPTORS";
    if std::env::var_os(CHILD).is_some() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = Rlimit {
            current: Some(1024),
            ..getrlimit(Resource::Nofile)
        };
        setrlimit(Resource::Nofile, limit).expect("lower is allowed");
        let runtime = Runtime::builder().build().expect("carriers can be started");
        within_limit(|| come_and_go(&runtime));
        return;
    }
    for stacks in ["dense", "generator"] {
        let test = "lifetimes::connections_that_come_and_go_leave_no_descriptor";
        in_its_own_process(test, &[(CHILD, "1"), ("VT_STACKS", stacks)]);
    }
}

fn come_and_go(runtime: &Runtime) {
    let round = |connections: usize, at_once: usize| {
        let (listener, address) = listener();
        let server = runtime.spawn(move || {
            let handles: Vec<_> = (0..connections)
                .map(|_| {
                    let (stream, _) = listener.accept().expect("a connection");
                    thread::spawn(move || echo(stream))
                })
                .collect();
            handles
                .into_iter()
                .for_each(|handle| handle.join().expect("no panic"));
        });
        let clients: Vec<_> = (0..at_once)
            .map(|_| {
                runtime.spawn(move || {
                    for _ in 0..connections / at_once {
                        let mut stream = TcpStream::connect(address).expect("it listens");
                        stream.write_all(b"x").expect("the server reads");
                        stream.read_exact(&mut [0; 1]).expect("it answers");
                    }
                })
            })
            .collect();
        clients
            .into_iter()
            .for_each(|client| client.join().expect("no panic"));
        server.join().expect("no panic");
    };
    let before = sockets();
    round(10_000, 50);
    assert_eq!(sockets(), before);
    out_of_descriptors(runtime);
    assert_eq!(sockets(), before);
}

/// `accept` says EMFILE, and takes the same connection when a descriptor is free again.
fn out_of_descriptors(runtime: &Runtime) {
    let (listener, address): (TcpListener, _) = listener();
    let is_told = || {
        let client = TcpStream::connect(address).expect("it listens");
        let mut hoard = Vec::new();
        while let Ok(file) = std::fs::File::open("/dev/null") {
            hoard.push(file);
        }
        // The watchdog opens files of its own now and then, and may give one back just now.
        let Err(error) = listener.accept() else {
            return false;
        };
        assert_eq!(error.raw_os_error(), Some(24));
        let is_told = TcpStream::connect(address).is_err();
        hoard.clear();
        listener.accept().expect("the connection is still there");
        drop(client);
        is_told
    };
    assert!(runtime.run(|| (0..20).any(|_| is_told())));
}

/// Somebody closes the number behind everybody's back. What ends a wait still ends it: a time-out, an interrupt, the
/// other end's bytes through a living duplicate. In processes of their own, since the number is free for any other test.
#[test]
fn a_descriptor_closed_under_its_reader_hangs_nobody() {
    const CHILD: &str = "VT_TEST_CLOSED";
    if std::env::var_os(CHILD).is_some() {
        on_both(2, closed_under_its_reader);
        return;
    }
    let test = "lifetimes::a_descriptor_closed_under_its_reader_hangs_nobody";
    in_its_own_process(test, &[(CHILD, "1")]);
}

fn closed_under_its_reader(runtime: &Runtime) {
    let close = |number| {
        // SAFETY: this process runs this test alone, and every owner of the number gives it up without closing.
        unsafe { rustix::io::close(number) };
    };
    let read = |stream: TcpStream| {
        let result = (&stream).read(&mut [0; 1]);
        // Nothing is left to close.
        let _ = stream.into_raw_fd();
        result.map_err(|error| error.raw_os_error())
    };
    /// The number is nobody's, or has gone to a file of the watchdog's.
    fn is_gone(ended: Result<usize, Option<i32>>) -> bool {
        matches!(ended, Err(Some(libc::EBADF | libc::ENOTSOCK)))
    }

    let (ours, mut other) = pair();
    let number = ours.as_raw_fd();
    ours.set_read_timeout(Some(Duration::from_millis(300)))
        .expect("not zero");
    let times_out = runtime.spawn(move || read(ours));
    until_it_waits(runtime, times_out.thread().id());
    close(number);
    assert_eq!(other.read(&mut [0; 1]).expect("the end"), 0);
    // The last attempt is one on a number that is no socket's.
    assert!(is_gone(times_out.join().expect("no panic")));

    let (ours, _other) = pair();
    let number = ours.as_raw_fd();
    let interrupted = runtime.spawn(move || read(ours));
    until_it_waits(runtime, interrupted.thread().id());
    close(number);
    interrupted.thread().interrupt();
    assert_eq!(interrupted.join().expect("no panic"), Err(None));

    let (ours, mut other) = pair();
    let number = ours.as_raw_fd();
    let duplicate = ours.try_clone().expect("a descriptor");
    let woken = runtime.spawn(move || read(ours));
    until_it_waits(runtime, woken.thread().id());
    close(number);
    other.write_all(b"x").expect("the duplicate keeps it open");
    assert!(is_gone(woken.join().expect("no panic")));
    let mut byte = [0; 1];
    runtime.run(|| (&duplicate).read_exact(&mut byte).expect("its byte"));
    assert_eq!(&byte, b"x");
}
