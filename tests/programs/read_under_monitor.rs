//! Waiting for bytes while a monitor is held.

use std::io::Read;
use std::time::Duration;

use vt_runtime::Runtime;
use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::sync::Monitor;

pub(crate) fn run(runtime: &Runtime) {
    let reader = runtime.spawn(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let silent = TcpStream::connect(address).expect("a peer");
        let mut stream: TcpStream = listener.accept().expect("a connection").0;
        stream.set_read_timeout(Some(Duration::from_millis(5))).expect("a time-out");
        let monitor = Monitor::new(0);
        let _guard = monitor.enter();
        let read = stream.read(&mut [0; 8]); //~ guard-across-park pin
        drop(silent);
        read.is_err()
    });
    assert!(reader.join().expect("no panic"));
}
