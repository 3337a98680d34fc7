//! One user: a connection, which may still be under way, and the request that is out.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::{Exchange, Reply};

/// How long a connection to loopback may take to be made. The kernel drops the first packet where the queue of connections
/// is full, and where an old connection between the same two ports has not faded yet; it sends the next ones after 1 s
/// and 3 s.
pub(super) const CONNECT: Duration = Duration::from_secs(8);

/// See the module's documentation.
pub(super) struct User {
    pub(super) stream: TcpStream,
    /// Since when the connection is under way; nobody else waits for that.
    pub(super) connecting: Option<Instant>,
    /// The request that is out: its number, and since when it is due.
    pub(super) asked: Option<(u64, Instant)>,
    request: Vec<u8>,
    written: usize,
    come: Vec<u8>,
}

/// What a step brought.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// The kernel takes no more bytes now.
    WouldBlock,
    Waiting,
    Answered(Reply),
    Broken,
}

impl User {
    pub(super) fn connect(to: SocketAddr) -> std::io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket =
            rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        match rustix::net::connect(&socket, &to) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let stream = TcpStream::from(socket);
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            connecting: Some(Instant::now()),
            asked: None,
            request: Vec::new(),
            written: 0,
            come: Vec::new(),
        })
    }

    /// It can be written to, or has failed: is it connected?
    pub(super) fn is_connected(&mut self) -> bool {
        self.connecting = None;
        matches!(self.stream.take_error(), Ok(None)) && self.stream.peer_addr().is_ok()
    }

    pub(super) fn ask(&mut self, exchange: &dyn Exchange, number: u64, due: Instant) -> Progress {
        self.asked = Some((number, due));
        self.request.clear();
        self.come.clear();
        self.written = 0;
        exchange.request(number, &mut self.request);
        self.write()
    }

    pub(super) fn write(&mut self) -> Progress {
        while self.written < self.request.len() {
            match self.stream.write(&self.request[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Progress::WouldBlock;
                }
                Err(_) => return Progress::Broken,
            }
        }
        Progress::Waiting
    }

    /// Takes what has come; `buffer` is scratch space.
    pub(super) fn read(&mut self, exchange: &dyn Exchange, buffer: &mut [u8]) -> Progress {
        match self.stream.read(buffer) {
            Ok(0) => Progress::Broken,
            Ok(count) => {
                let Some((number, _)) = self.asked else {
                    // Nothing was asked.
                    return Progress::Answered(Reply::Wrong);
                };
                let judged = if self.come.is_empty() {
                    exchange.judge(number, &buffer[..count])
                } else {
                    self.come.extend_from_slice(&buffer[..count]);
                    exchange.judge(number, &self.come)
                };
                if judged != Reply::Partial {
                    return Progress::Answered(judged);
                }
                if self.come.is_empty() {
                    self.come.extend_from_slice(&buffer[..count]);
                }
                Progress::Waiting
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Progress::Waiting,
            Err(_) => Progress::Broken,
        }
    }
}
