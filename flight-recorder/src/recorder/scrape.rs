//! The smallest HTTP server that a scraper needs: any request gets the metrics, one connection at a
//! time, each within a second.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Weak;
use std::time::{Duration, Instant};

use super::{FlightRecorder, Shared};

/// A scrape takes no longer.
const LIMIT: Duration = Duration::from_secs(1);
/// More head than any scraper sends.
const MAX_HEAD: usize = 16 << 10;

pub(super) fn serve(weak: Weak<Shared>, listener: TcpListener) -> io::Result<SocketAddr> {
    let address = listener.local_addr()?;
    std::thread::Builder::new()
        .name("vt-metrics".to_owned())
        .spawn(move || {
            for client in listener.incoming().flatten() {
                let Some(recorder) = FlightRecorder::upgrade(&weak) else {
                    return;
                };
                // A scraper that went away asks again soon.
                let _ = answer(&recorder, client);
            }
        })?;
    Ok(address)
}

fn answer(recorder: &FlightRecorder, mut client: TcpStream) -> io::Result<()> {
    client.set_write_timeout(Some(LIMIT))?;
    let until = Instant::now() + LIMIT;
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || head.len() > MAX_HEAD {
            return Ok(());
        }
        client.set_read_timeout(Some(left))?;
        let mut part = [0; 1_024];
        let read = client.read(&mut part)?;
        if read == 0 {
            return Ok(());
        }
        head.extend_from_slice(&part[..read]);
    }
    let body = recorder.metrics();
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    write!(
        client,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
