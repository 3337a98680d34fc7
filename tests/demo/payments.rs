//! The payment provider: a slow peer on loopback, on a runtime of its own, and the client of it.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use vt_runtime::net::{TcpListener, TcpStream};
use vt_runtime::{Runtime, thread};

/// How long the provider thinks about a payment.
pub(crate) const LATENCY: Duration = Duration::from_millis(50);

/// Answers every payment after [`LATENCY`], until the process ends.
pub(crate) fn serve(runtime: &Runtime) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    runtime.spawn(move || {
        for connection in listener.incoming().flatten() {
            thread::spawn(move || answer(connection));
        }
    });
    Ok(address)
}

fn answer(mut connection: TcpStream) -> io::Result<()> {
    let mut amount = [0; 4];
    connection.read_exact(&mut amount)?;
    thread::sleep(LATENCY);
    connection.write_all(&amount)
}

/// Charges that amount and waits for the provider's word.
pub(crate) fn charge(provider: SocketAddr, cents: u32) -> io::Result<()> {
    let mut connection = TcpStream::connect(provider)?;
    connection.write_all(&cents.to_be_bytes())?;
    let mut charged = [0; 4];
    connection.read_exact(&mut charged)?;
    match u32::from_be_bytes(charged) == cents {
        true => Ok(()),
        false => Err(io::Error::other("the provider charged another amount")),
    }
}
