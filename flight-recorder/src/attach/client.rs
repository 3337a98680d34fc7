//! The side of who asks: finds processes with a recorder and talks to one.

use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{HELLO, folder, own_folder};

/// How long a recorder may take to begin its reply.
const LIMIT: Duration = Duration::from_secs(60);
/// A longer reply is none of a recorder's.
const MAX_REPLY: u64 = 4 << 30;

/// Why a recorder could not be asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum AttachError {
    /// The process has no recorder that can be reached.
    NoSocket {
        /// The process.
        pid: u32,
        /// Where its socket should be.
        folder: PathBuf,
    },
    /// Talking failed.
    Io(io::Error),
    /// The recorder refused, and said why.
    Refused(String),
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSocket { pid, folder } => write!(
                f,
                "process {pid} has no recorder to attach to in {}: build it with `.attach(true)` and run it as the same user",
                folder.display()
            ),
            Self::Io(error) => write!(f, "the recorder does not answer: {error}"),
            Self::Refused(told) => f.write_str(told),
        }
    }
}

impl std::error::Error for AttachError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::NoSocket { .. } | Self::Refused(_) => None,
        }
    }
}

impl From<io::Error> for AttachError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A recorder in a running process of this user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// The process.
    pub pid: u32,
    socket: PathBuf,
}

/// The recorders that can be reached, by process; those of processes that are gone are left out.
#[must_use]
pub fn processes() -> Vec<Process> {
    // A folder that is not ours alone is not to be trusted.
    let Ok(folder) = own_folder() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let socket = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name
            .strip_suffix(".sock")
            .and_then(|stem| stem.split('-').next()?.parse().ok());
        if let Some(pid) = pid
            && UnixStream::connect(&socket).is_ok()
        {
            found.push(Process { pid, socket });
        }
    }
    found.sort();
    found
}

impl Process {
    /// The recorder of a process; its first, if it has several.
    ///
    /// # Errors
    /// It has none that can be reached.
    pub fn find(pid: u32) -> Result<Self, AttachError> {
        let found = processes().into_iter().find(|process| process.pid == pid);
        found.ok_or_else(|| AttachError::NoSocket {
            pid,
            folder: folder(),
        })
    }

    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Facts as lines of `name value`.
    ///
    /// # Errors
    /// The recorder does not answer.
    pub fn status(&self) -> Result<String, AttachError> {
        self.text("status")
    }

    /// Virtual threads, one a line, in fields separated by tabs: id, name, state, carrier, what it
    /// waits for, its owner, for how long in nanoseconds, pinned for how long, native call, parent, where it waits,
    /// whether the wait ends by itself, and of a pin the reason, the lock, where it was taken, and how many it strands.
    ///
    /// # Errors
    /// The recorder does not answer.
    pub fn threads(&self) -> Result<String, AttachError> {
        self.text("threads")
    }

    /// [`threads`](Self::threads), each followed by the frames of its stack, innermost first, a tab before each.
    ///
    /// # Errors
    /// The recorder does not answer.
    pub fn thread_stacks(&self) -> Result<String, AttachError> {
        self.text("threads stacks")
    }

    /// The metrics in OpenMetrics' text form.
    ///
    /// # Errors
    /// The recorder does not answer.
    pub fn metrics(&self) -> Result<String, AttachError> {
        self.text("metrics")
    }

    /// Changes the duration from which pinned waits are reported, given as `5ms`.
    ///
    /// # Errors
    /// The recorder does not answer, or the text is no span.
    pub fn set_pin_threshold(&self, span: &str) -> Result<(), AttachError> {
        self.ask(&format!("set {span}")).map(drop)
    }

    /// Changes how many parks and starts are kept in a second: such as `200/s`, or `off`.
    ///
    /// # Errors
    /// The process does not answer, or the text is none.
    pub fn set_throttle(&self, throttle: &str) -> Result<(), AttachError> {
        self.ask(&format!("set throttle {throttle}")).map(drop)
    }

    /// A recording of now, not older than `last`, given as `60s`.
    ///
    /// # Errors
    /// The recorder does not answer, or the text is no span.
    pub fn dump(&self, last: Option<&str>) -> Result<Vec<u8>, AttachError> {
        match last {
            Some(last) => self.ask(&format!("dump {last}")),
            None => self.ask("dump"),
        }
    }

    fn text(&self, verb: &str) -> Result<String, AttachError> {
        Ok(String::from_utf8_lossy(&self.ask(verb)?).into_owned())
    }

    fn ask(&self, request: &str) -> Result<Vec<u8>, AttachError> {
        let mut stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.set_write_timeout(Some(LIMIT))?;
        // Only one line is a request, whatever the caller's text holds.
        let request = request.replace('\n', " ");
        stream.write_all(format!("{HELLO}{request}\n").as_bytes())?;
        let mut head = Vec::new();
        while head.last() != Some(&b'\n') && head.len() < 4_096 {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head);
        let head = head.trim_end();
        if let Some(told) = head.strip_prefix("error ") {
            return Err(AttachError::Refused(told.to_owned()));
        }
        let broken = || AttachError::Io(io::Error::other("its reply is none of this protocol"));
        let length = head
            .strip_prefix("ok ")
            .and_then(|length| length.parse::<u64>().ok());
        let length = length
            .filter(|length| *length <= MAX_REPLY)
            .ok_or_else(broken)?;
        let mut reply = Vec::new();
        stream.take(length).read_to_end(&mut reply)?;
        if reply.len() as u64 != length {
            return Err(AttachError::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(reply)
    }
}
