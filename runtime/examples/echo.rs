//! A thousand connections to an echo server, written as if each had an OS thread of its own.

use std::io::{self, Read, Write};
use std::time::Instant;

use vt_runtime::net::{Shutdown, TcpListener, TcpStream};
use vt_runtime::thread;

const CONNECTIONS: usize = 1000;

fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming() {
            match stream {
                Ok(stream) => drop(thread::spawn(move || echo(stream))),
                Err(error) => eprintln!("accept: {error}"),
            }
        }
    });
    let start = Instant::now();
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|number| {
            thread::spawn(move || {
                let mut stream = TcpStream::connect(address)?;
                write!(stream, "hello from {number}")?;
                stream.shutdown(Shutdown::Write)?;
                io::read_to_string(stream)
            })
        })
        .collect();
    let mut bytes = 0;
    for client in clients {
        bytes += client.join().expect("no client panics")?.len();
    }
    println!(
        "{CONNECTIONS} connections, {bytes} bytes back after {:?}",
        start.elapsed()
    );
    Ok(())
}

fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            count => stream.write_all(&buffer[..count])?,
        }
    }
}
