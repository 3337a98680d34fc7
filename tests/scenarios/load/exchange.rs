//! What is said: the request of a number, and whether what came is its answer.

/// One request and its answer.
pub(crate) trait Exchange {
    /// Appends the request.
    fn request(&self, number: u64, into: &mut Vec<u8>);

    /// Judges what has come so far.
    fn judge(&self, number: u64, come: &[u8]) -> Reply;
}

/// What has come of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Partial,
    Right,
    Wrong,
}

/// An HTTP/1.1 request whose answer must have the status 200 and that body.
pub(crate) struct Http<B, A> {
    /// The body of the request with that number.
    pub(crate) body: B,
    /// The body of its answer; `None` if any will do.
    pub(crate) answer: A,
}

impl<B, A> Exchange for Http<B, A>
where
    B: Fn(u64) -> Vec<u8>,
    A: Fn(u64) -> Option<Vec<u8>>,
{
    fn request(&self, number: u64, into: &mut Vec<u8>) {
        let body = (self.body)(number);
        let head = format!(
            "POST /{number} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        into.extend_from_slice(head.as_bytes());
        into.extend_from_slice(&body);
    }

    fn judge(&self, number: u64, come: &[u8]) -> Reply {
        let Some(head) = come.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            return Reply::Partial;
        };
        let (head, body) = (&come[..head], &come[head + 4..]);
        let Some(length) = content_length(head) else {
            return Reply::Wrong;
        };
        if body.len() < length {
            return Reply::Partial;
        }
        let expected = (self.answer)(number);
        let is_right = head.starts_with(b"HTTP/1.1 200")
            && body.len() == length
            && expected.is_none_or(|expected| expected == body);
        if is_right { Reply::Right } else { Reply::Wrong }
    }
}

fn content_length(head: &[u8]) -> Option<usize> {
    let head = std::str::from_utf8(head).ok()?;
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
}

type Body = fn(u64) -> Vec<u8>;
type Answer = fn(u64) -> Option<Vec<u8>>;

/// Nothing to verify, and the answer is `ok`.
pub(crate) const PLAIN: Http<Body, Answer> = Http {
    body: |_| Vec::new(),
    answer: |_| Some(b"ok".to_vec()),
};
