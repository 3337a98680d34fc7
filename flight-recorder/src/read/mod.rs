//! Reads `.jfr` files: ours, the JVM's, any of container version 2.
//!
//! Built for files that may be damaged or hostile: what is whole is given, and every place where
//! reading stopped is kept as a [`Damage`]. Nothing panics, nothing hangs, and memory is bounded by the
//! constants of one chunk, not by the file.

mod chunk;
mod cursor;
mod event;
mod pin;
mod pools;
mod thread;
mod types;
mod value;
mod window;

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

pub use self::chunk::Chunk;
pub(crate) use self::cursor::Cursor;
pub use self::event::{Event, Frame};
pub use self::pin::{Pin, PinKind};
pub use self::thread::Thread;
pub use self::types::{Field, Type};
pub use self::value::Value;
use self::window::Window;
use crate::format::{FLAG_VARINTS, HEADER_LEN, Header, MAGIC};

/// Why a file could not be read at all.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system refused.
    Io(io::Error),
    /// It does not begin as a recording does.
    NotARecording,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::NotARecording => {
                f.write_str("not a flight recording: it does not begin with a chunk's header")
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::NotARecording => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A place where the file is not whole, and what that cost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// Bytes from the file's start.
    pub at: u64,
    /// What is wrong there and what was left out for it.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.at, self.what)
    }
}

/// More damage than this is counted, not told.
const MAX_DAMAGES: usize = 100;

/// A recording, read chunk by chunk.
///
/// ```no_run
/// use vt_flight_recorder::Reader;
///
/// # fn main() -> Result<(), vt_flight_recorder::ReadError> {
/// let mut reader = Reader::open("app.jfr")?;
/// while let Some(mut chunk) = reader.next_chunk()? {
///     while let Some(event) = chunk.next_event()? {
///         println!("{} at {} ns", event.name(), event.start_ns());
///     }
/// }
/// for damage in reader.damages() {
///     eprintln!("{damage}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    window: Window<R>,
    at: u64,
    damages: Vec<Damage>,
    untold: u64,
}

impl Reader<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be opened or read, or is no recording.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
        }
        Self::new(file)
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Reads from `source`.
    ///
    /// # Errors
    /// `source` cannot be read or is no recording.
    pub fn new(source: R) -> Result<Self, ReadError> {
        let mut window = Window::new(source)?;
        let begin = window.bytes(0, MAGIC.len() as u64)?;
        // A file cut within the magic number is still one of ours, cut.
        if begin.is_empty() || !MAGIC.starts_with(begin) {
            return Err(ReadError::NotARecording);
        }
        Ok(Self {
            window,
            at: 0,
            damages: Vec::new(),
            untold: 0,
        })
    }

    /// The next chunk that can be read, with its schema and constants; `None` at the end.
    ///
    /// # Errors
    /// The source cannot be read. Damage is no error: see [`damages`](Self::damages).
    pub fn next_chunk(&mut self) -> Result<Option<Chunk<'_, R>>, ReadError> {
        loop {
            if self.at >= self.window.len() {
                return Ok(None);
            }
            let start = self.at;
            let Some(header) = self.header(start)? else {
                // Nothing says where another chunk would begin.
                self.at = self.window.len();
                return Ok(None);
            };
            let end = self.end(start, &header);
            self.at = end;
            if let Some(parts) = chunk::load(self, start, end, &header)? {
                return Ok(Some(Chunk::new(self, start, end, header, parts)));
            }
        }
    }

    /// Where the file is not whole, as far as it has been read.
    #[must_use]
    pub fn damages(&self) -> &[Damage] {
        &self.damages
    }

    /// Damage beyond the list of [`damages`](Self::damages).
    #[must_use]
    pub const fn untold_damages(&self) -> u64 {
        self.untold
    }

    fn damage(&mut self, at: u64, what: impl Into<String>) {
        if self.damages.len() < MAX_DAMAGES {
            self.damages.push(Damage {
                at,
                what: what.into(),
            });
        } else {
            self.untold += 1;
        }
    }

    fn header(&mut self, start: u64) -> Result<Option<Header>, ReadError> {
        let bytes = self.window.bytes(start, HEADER_LEN as u64)?;
        let Ok(bytes) = <&[u8; HEADER_LEN]>::try_from(bytes) else {
            let len = self.window.len();
            self.damage(
                len,
                format!("the file ends within the header of a chunk at byte {start}"),
            );
            return Ok(None);
        };
        let Some(header) = Header::parse(bytes) else {
            self.damage(
                start,
                "no chunk begins here; the rest of the file was left out",
            );
            return Ok(None);
        };
        if header.major != 2 {
            let version = format!("{}.{}", header.major, header.minor);
            self.damage(
                start,
                format!("a chunk of version {version}; only 2.x can be read"),
            );
            return Ok(None);
        }
        if header.flags & FLAG_VARINTS == 0 {
            self.damage(start, "a chunk of plain integers, which cannot be read");
            return Ok(None);
        }
        Ok(Some(header))
    }

    /// Where the chunk ends, told where the file does not hold all of it.
    fn end(&mut self, start: u64, header: &Header) -> u64 {
        let len = self.window.len();
        let claimed = start.saturating_add(header.size);
        if header.size < HEADER_LEN as u64 {
            // A chunk that is being written has no size yet: all that follows may be its.
            self.damage(start, "an unfinished chunk; what it holds so far was read");
            return len;
        }
        if claimed > len {
            let missing = claimed - len;
            self.damage(
                len,
                format!("the file ends {missing} bytes before its chunk at byte {start} does"),
            );
            return len;
        }
        claimed
    }
}
