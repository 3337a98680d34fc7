//! A network that behaves badly: pieces of every size, slow readers, half-closed and reset connections, a proxy in
//! between that does all of it. No hang, no lost byte.

mod injected;
mod signals;

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use vt_runtime::net::{Shutdown, TcpListener, TcpStream};
use vt_runtime::{Runtime, thread};

use super::{in_its_own_process, listener, on_both, sockets, until, within_limit};

/// A cheap, repeatable source of "random" numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % sides
    }
}

/// What the proxy does to each connection.
#[derive(Clone, Copy)]
enum Fault {
    /// Forwards in pieces of 1 to 700 bytes, through small kernel buffers.
    Pieces,
    /// The same, and stops for a moment again and again.
    Stalls,
    /// Forwards so many bytes to the server, then resets both connections.
    ResetAfter(usize),
}

/// Starts a proxy on OS threads with std's blocking sockets; it serves `connections` and ends.
fn proxy(to: SocketAddr, fault: Fault, connections: usize) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let os_thread = |name: &str, f: Box<dyn FnOnce() + Send>| {
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(f)
            .expect("an OS thread")
    };
    os_thread(
        "proxy",
        Box::new(move || {
            for number in 0..connections {
                let (client, _) = listener.accept().expect("a connection");
                let server = std::net::TcpStream::connect(to).expect("it listens");
                for socket in [&client, &server] {
                    rustix::net::sockopt::set_socket_recv_buffer_size(socket, 4096).expect("small");
                    rustix::net::sockopt::set_socket_send_buffer_size(socket, 4096).expect("small");
                }
                let ends = [
                    (client.try_clone(), server.try_clone(), 1),
                    (Ok(server), Ok(client), 2),
                ];
                for (from, to, seed) in ends {
                    let (from, to) = (from.expect("a descriptor"), to.expect("a descriptor"));
                    let dice = Dice(number as u64 * 2 + seed);
                    os_thread("relay", Box::new(move || relay(from, to, fault, dice)));
                }
            }
        }),
    );
    address
}

fn relay(mut from: std::net::TcpStream, mut to: std::net::TcpStream, fault: Fault, mut dice: Dice) {
    let mut passed = 0;
    let mut buffer = [0; 700];
    loop {
        let most = 1 + dice.roll(buffer.len());
        let count = match from.read(&mut buffer[..most]) {
            Ok(0) => break,
            Ok(count) => count,
            Err(_) => return,
        };
        passed += count;
        if matches!(fault, Fault::Stalls) && dice.roll(4) == 0 {
            std::thread::park_timeout(Duration::from_micros(dice.roll(4000) as u64));
        }
        if matches!(fault, Fault::ResetAfter(limit) if passed >= limit) {
            for socket in [&from, &to] {
                let now = Some(Duration::ZERO);
                rustix::net::sockopt::set_socket_linger(socket, now).expect("a socket");
                // The other relay has handles of both: only this makes the reset go out at once.
                let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
            }
            return;
        }
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

fn pattern(seed: usize, length: usize) -> Vec<u8> {
    (0..length).map(|n| ((n * 31 + seed) % 249) as u8).collect()
}

/// Answers each connection with everything it sent, reversed, after it has stopped sending.
fn reversing_server(runtime: &Runtime, listener: TcpListener, connections: usize) {
    runtime.spawn(move || {
        for _ in 0..connections {
            let (mut stream, _) = listener.accept().expect("a connection");
            thread::spawn(move || {
                let mut all = Vec::new();
                if stream.read_to_end(&mut all).is_ok() {
                    all.reverse();
                    // The peer may be gone.
                    let _ = stream.write_all(&all);
                }
            });
        }
    });
}

#[test]
fn pieces_of_every_size_and_half_closed_streams_lose_nothing() {
    const CONNECTIONS: usize = 12;
    on_both(2, |runtime| {
        let (listener, address) = listener();
        reversing_server(runtime, listener, CONNECTIONS);
        let address = proxy(address, Fault::Pieces, CONNECTIONS);
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|number| {
                runtime.spawn(move || {
                    let sent = pattern(number, 60_000 + number * 1009);
                    let mut stream = TcpStream::connect(address).expect("it listens");
                    stream.write_all(&sent).expect("it reads");
                    stream.shutdown(Shutdown::Write).expect("connected");
                    let mut got = Vec::new();
                    stream.read_to_end(&mut got).expect("it answers");
                    got.reverse();
                    assert!(got == sent, "{} of {} bytes", got.len(), sent.len());
                })
            })
            .collect();
        for client in clients {
            client.join().expect("no panic");
        }
    });
}

/// Time-outs of about the length of the stalls, both ways: each is an error of its own kind, and none takes a byte along.
#[test]
fn time_outs_behind_a_stalling_proxy_lose_nothing() {
    const CONNECTIONS: usize = 6;
    /// Repeats an operation while it times out; tells how often it did.
    fn patient<T>(mut operation: impl FnMut() -> std::io::Result<T>) -> (T, u32) {
        let mut times = 0;
        loop {
            match operation() {
                Ok(value) => return (value, times),
                Err(error) if error.kind() == ErrorKind::WouldBlock => times += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    on_both(2, |runtime| {
        let (listener, address) = listener();
        reversing_server(runtime, listener, CONNECTIONS);
        let address = proxy(address, Fault::Stalls, CONNECTIONS);
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|number| {
                runtime.spawn(move || {
                    let sent = pattern(number, 40_000 + number * 1009);
                    let mut stream = TcpStream::connect(address).expect("it listens");
                    rustix::net::sockopt::set_socket_send_buffer_size(&stream, 4096)
                        .expect("small");
                    let moment = Some(Duration::from_micros(700));
                    stream.set_read_timeout(moment).expect("not zero");
                    stream.set_write_timeout(moment).expect("not zero");
                    let (mut at, mut late) = (0, 0);
                    while at < sent.len() {
                        let (count, times) = patient(|| stream.write(&sent[at..]));
                        (at, late) = (at + count, late + times);
                    }
                    stream.shutdown(Shutdown::Write).expect("connected");
                    let mut got = Vec::new();
                    loop {
                        let mut buffer = [0; 512];
                        let (count, times) = patient(|| stream.read(&mut buffer));
                        late += times;
                        if count == 0 {
                            break;
                        }
                        got.extend_from_slice(&buffer[..count]);
                    }
                    got.reverse();
                    assert!(got == sent, "{} of {} bytes", got.len(), sent.len());
                    late
                })
            })
            .collect();
        let late: u32 = clients
            .into_iter()
            .map(|client| client.join().expect("no panic"))
            .sum();
        assert!(late > 0, "nothing timed out");
    });
}

#[test]
fn a_reset_in_the_middle_ends_both_sides() {
    const CONNECTIONS: usize = 8;
    on_both(2, |runtime| {
        let (listener, address) = listener();
        reversing_server(runtime, listener, CONNECTIONS);
        let address = proxy(address, Fault::ResetAfter(30_000), CONNECTIONS);
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|number| {
                runtime.spawn(move || {
                    let mut stream = TcpStream::connect(address).expect("it listens");
                    let sent = stream.write_all(&pattern(number, 8 << 20));
                    let read = stream.read_to_end(&mut Vec::new());
                    (
                        sent.map_err(|error| error.kind()),
                        read.map_err(|error| error.kind()),
                    )
                })
            })
            .collect();
        for client in clients {
            let (sent, _) = client.join().expect("no panic");
            let kind = sent.expect_err("more than passes");
            assert!(
                matches!(kind, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe),
                "{kind:?}"
            );
        }
    });
}

/// In a process of its own, since it counts descriptors.
#[test]
fn faults_leave_no_descriptor_behind() {
    const CHILD: &str = "VT_TEST_FAULTS";
    if std::env::var_os(CHILD).is_some() {
        let before = sockets();
        pieces_of_every_size_and_half_closed_streams_lose_nothing();
        time_outs_behind_a_stalling_proxy_lose_nothing();
        a_reset_in_the_middle_ends_both_sides();
        // The proxy's last threads close theirs a moment later.
        within_limit(|| until(|| sockets() == before));
        return;
    }
    let test = "hostile::faults_leave_no_descriptor_behind";
    in_its_own_process(test, &[(CHILD, "1")]);
}

#[test]
fn connections_that_are_gone_before_accept_disturb_nobody() {
    on_both(1, |runtime| {
        let (listener, address) = listener();
        for _ in 0..20 {
            let stream = std::net::TcpStream::connect(address).expect("it listens");
            let now = Some(Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&stream, now).expect("a socket");
        }
        let last = std::net::TcpStream::connect(address).expect("it listens");
        let last_address = last.local_addr().expect("connected");
        runtime.run(|| {
            // Linux hands out dead connections; other systems say ECONNABORTED. Both end here.
            while listener.accept().ok().map(|(_, peer)| peer) != Some(last_address) {}
        });
        drop(last);
    });
}

#[test]
fn a_burst_of_connections_waits_for_its_acceptor() {
    let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").expect("procfs");
    let most: usize = most.trim().parse().expect("a number");
    on_both(1, |runtime| {
        let (listener, address) = listener();
        runtime.run(|| {
            // Who finds the queue full is told nothing and tries again after a second.
            let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(900));
            let streams: Vec<_> = (0..most.min(500))
                .map(|_| connect().expect("the queue is long enough"))
                .collect();
            for _ in &streams {
                listener.accept().expect("they are all there");
            }
        });
    });
}

#[test]
fn idle_connections_take_no_time() {
    on_both(2, |runtime| {
        let (listener, address) = listener();
        let others: Vec<_> = (0..300)
            .map(|_| {
                let other = std::net::TcpStream::connect(address).expect("it listens");
                let (mut ours, _) = listener.accept().expect("a connection");
                runtime.spawn(move || ours.read(&mut [0; 1]));
                other
            })
            .collect();
        until(|| {
            let threads = runtime.threads();
            threads
                .iter()
                .filter(|info| info.waits_for.is_some())
                .count()
                == others.len()
        });
        let parks = || {
            super::events(runtime)
                .iter()
                .filter(|event| {
                    matches!(event, vt_runtime::event::Event::VirtualThreadUnpark { .. })
                })
                .count()
        };
        // A reader of its own makes parks recorded; nobody is woken for nothing meanwhile.
        let reader = runtime.event_reader();
        let before = parks();
        std::thread::park_timeout(Duration::from_millis(100));
        assert_eq!(parks(), before);
        drop(reader);
    });
}
