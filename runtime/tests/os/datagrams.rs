//! `UdpSocket`, as std's.

use std::io::ErrorKind;
use std::time::Duration;

use vt_runtime::net::UdpSocket;
use vt_runtime::thread;

use super::on_both;

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
