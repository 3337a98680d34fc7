//! Shapes of reads and writes: through std's traits, adapters and macros.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};

use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::thread::{self, JoinHandle};

use super::{MOMENT, pin};

/// More than the buffers of a loopback connection hold.
const FLOOD: usize = 16 << 20;

/// Both ends of a connection; the other end does what it is told after a moment.
fn peer(act: impl FnOnce(TcpStream) + Send + 'static) -> (TcpStream, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    // Connecting to a listener does not wait for its accept; the other end lives on another carrier.
    let other = thread::Builder::new().carrier(1).spawn(move || {
        let stream = TcpStream::connect(address).expect("it listens");
        thread::sleep(5 * MOMENT);
        act(stream);
    });
    let (stream, _) = listener.accept().expect("somebody connects");
    (stream, other.expect("spawned"))
}

/// A peer that sends a line.
fn sender() -> (TcpStream, JoinHandle<()>) {
    peer(|mut stream| stream.write_all(b"line\n").expect("it is sent"))
}

/// A peer that takes everything in.
fn sink() -> (TcpStream, JoinHandle<()>) {
    peer(|mut stream| {
        // The writer has to format its flood first, and shall find nobody who takes it in.
        thread::sleep(30 * MOMENT);
        let mut bytes = vec![0; 1 << 20];
        while stream.read(&mut bytes).is_ok_and(|count| count > 0) {}
    })
}

pub(crate) fn a_read() -> u32 {
    let (mut stream, peer) = sender();
    pin(|| stream.read(&mut [0; 8])).expect("it is sent");
    let line = line!() - 1;
    peer.join().expect("no panic");
    line
}

pub(crate) fn a_read_of_a_reference() -> u32 {
    let (stream, peer) = sender();
    pin(|| (&stream).read(&mut [0; 8])).expect("it is sent");
    let line = line!() - 1;
    peer.join().expect("no panic");
    line
}

pub(crate) fn a_read_behind_a_trait_object() -> u32 {
    let (stream, peer) = sender();
    let mut stream: Box<dyn Read> = Box::new(stream);
    pin(|| stream.read(&mut [0; 8])).expect("it is sent");
    let line = line!() - 1;
    peer.join().expect("no panic");
    line
}

fn read_some<R: Read>(reader: &mut R) -> u32 {
    reader.read_exact(&mut [0; 4]).expect("it is sent");
    line!() - 1
}

pub(crate) fn a_read_in_a_generic_function() -> u32 {
    let (mut stream, peer) = sender();
    let line = pin(|| read_some(&mut stream));
    peer.join().expect("no panic");
    line
}

pub(crate) fn a_read_to_the_end() -> u32 {
    let (mut stream, peer) = sender();
    pin(|| stream.read_to_string(&mut String::new())).expect("it is sent");
    let line = line!() - 1;
    peer.join().expect("no panic");
    line
}

pub(crate) fn a_line_of_a_buffered_reader() -> u32 {
    let (stream, peer) = sender();
    let mut lines = BufReader::new(stream);
    pin(|| lines.read_line(&mut String::new())).expect("it is sent");
    let line = line!() - 1;
    peer.join().expect("no panic");
    line
}

pub(crate) fn the_lines_of_a_buffered_reader() -> u32 {
    let (stream, peer) = sender();
    let mut lines = BufReader::new(stream).lines();
    pin(|| lines.next()).expect("a line").expect("it is sent");
    let line = line!() - 1;
    peer.join().expect("no panic");
    line
}

pub(crate) fn a_copy_by_std() -> u32 {
    let (mut stream, peer) = sender();
    pin(|| std::io::copy(&mut stream, &mut std::io::sink())).expect("it is sent");
    let line = line!() - 1;
    peer.join().expect("no panic");
    line
}

pub(crate) fn a_formatted_write() -> u32 {
    let (mut stream, peer) = sink();
    let flood = "x".repeat(FLOOD);
    pin(|| write!(stream, "{flood}.")).expect("it is taken");
    let line = line!() - 1;
    drop(stream);
    peer.join().expect("no panic");
    line
}

pub(crate) fn a_formatted_write_behind_a_trait_object() -> u32 {
    let (stream, peer) = sink();
    let mut stream: Box<dyn Write> = Box::new(stream);
    let flood = "x".repeat(FLOOD);
    pin(|| writeln!(stream, "{flood}")).expect("it is taken");
    let line = line!() - 1;
    drop(stream);
    peer.join().expect("no panic");
    line
}

pub(crate) fn a_flush_of_a_buffered_writer() -> u32 {
    let (stream, peer) = sink();
    let mut writer = BufWriter::with_capacity(2 * FLOOD, stream);
    writer.write_all(&vec![0; FLOOD]).expect("there is room");
    pin(|| writer.flush()).expect("it is taken");
    let line = line!() - 1;
    drop(writer);
    peer.join().expect("no panic");
    line
}
