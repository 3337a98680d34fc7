//! One user: a connection, and the request that is out.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::{Exchange, Reply};

/// How long a connection to loopback may take to be made.
const CONNECT: Duration = Duration::from_secs(1);

/// See the module's documentation.
pub(super) struct User {
    pub(super) stream: TcpStream,
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
        let stream = TcpStream::connect_timeout(&to, CONNECT)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            asked: None,
            request: Vec::new(),
            written: 0,
            come: Vec::new(),
        })
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
