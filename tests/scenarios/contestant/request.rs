//! As much HTTP/1.1 as the scenarios need, the same for every contestant: requests with a body, one after the other on
//! a connection.

/// The longest request taken.
pub(super) const LONGEST: usize = 80 * 1024;

/// Bytes of a connection, of which whole requests are taken.
pub(super) struct Requests {
    buffer: Vec<u8>,
    filled: usize,
}

impl Requests {
    pub(super) fn new() -> Self {
        Self {
            buffer: vec![0; 1024],
            filled: 0,
        }
    }

    /// Where the next bytes belong; `None` if the request is too long.
    pub(super) fn room(&mut self) -> Option<&mut [u8]> {
        if self.filled == self.buffer.len() {
            if self.filled >= LONGEST {
                return None;
            }
            self.buffer.resize(self.filled * 4, 0);
        }
        Some(&mut self.buffer[self.filled..])
    }

    pub(super) fn came(&mut self, count: usize) {
        self.filled += count;
    }

    /// The body of the next request, when it is whole.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        let come = &self.buffer[..self.filled];
        let head = come.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
        let length = std::str::from_utf8(&come[..head])
            .unwrap_or("")
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok())
            .unwrap_or(0);
        let end = head + 4 + length;
        let body = come.get(head + 4..end)?.to_vec();
        self.buffer.copy_within(end..self.filled, 0);
        self.filled -= end;
        Some(body)
    }
}

/// An answer with that status line and body.
pub(super) fn answer(status: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}
