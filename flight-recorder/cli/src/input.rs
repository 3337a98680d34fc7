//! Recordings named on the command line: opened, read through, their damage told.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use vt_flight_recorder::{Chunk, Event, ReadError, Reader};

use crate::text;

/// Why a verb could not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A recording could not be read.
    Read(PathBuf, ReadError),
    /// Another file could not be used.
    File(PathBuf, String),
    /// The output could not be written.
    Output(io::Error),
    /// Something else, told in full.
    Told(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "{}: {error}", path.display()),
            Self::File(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Output(error) => write!(f, "the output cannot be written: {error}"),
            Self::Told(text) => f.write_str(text),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// What reading the files through found besides events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Places where a file is not whole.
    pub(crate) damages: u64,
    /// Records that the recorder says were lost.
    pub(crate) lost: u64,
    /// Parks, starts and ends that it left out on purpose.
    pub(crate) throttled: u64,
}

impl Seen {
    /// Counts what an event says is not there.
    pub(crate) fn count(&mut self, event: &Event<'_>) {
        if event.name() == "vt.EventsDropped" {
            let count = event.integer("count").unwrap_or(0).unsigned_abs();
            if event.text("place").as_deref() == Some("throttle") {
                self.throttled += count;
            } else {
                self.lost += count;
            }
        }
    }
}

/// Visits every event of the files, in file order; damage goes to standard error.
pub(crate) fn events(
    files: &[PathBuf],
    mut visit: impl FnMut(&Event<'_>) -> Result<(), Failure>,
) -> Result<Seen, Failure> {
    chunks(files, |_, chunk, seen| {
        loop {
            let event = chunk.next_event().map_err(Broke)?;
            let Some(event) = event else {
                return Ok(());
            };
            seen.count(&event);
            visit(&event)?;
        }
    })
}

/// Visits every event once more; what is wrong with the files has been told.
pub(crate) fn again(files: &[PathBuf], mut visit: impl FnMut(&Event<'_>)) -> Result<(), Failure> {
    for path in files {
        let failed = |error| Failure::Read(path.clone(), error);
        let mut reader = Reader::open(path).map_err(failed)?;
        while let Some(mut chunk) = reader.next_chunk().map_err(failed)? {
            chunk.each(&mut visit).map_err(failed)?;
        }
    }
    Ok(())
}

/// A recording that broke while it was read, before its path is known.
pub(crate) struct Broke(pub(crate) ReadError);

/// What a visitor of chunks may end with.
pub(crate) enum Ended {
    Broke(ReadError),
    Failed(Failure),
}

impl From<Broke> for Ended {
    fn from(broke: Broke) -> Self {
        Self::Broke(broke.0)
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Visits every chunk of the files. A file without a single readable one is an error, not an empty answer.
pub(crate) fn chunks(
    files: &[PathBuf],
    mut visit: impl FnMut(&Path, &mut Chunk<'_, File>, &mut Seen) -> Result<(), Ended>,
) -> Result<Seen, Failure> {
    let mut seen = Seen::default();
    for path in files {
        let failed = |error| Failure::Read(path.clone(), error);
        let mut reader = Reader::open(path).map_err(failed)?;
        let mut read = 0_u64;
        while let Some(mut chunk) = reader.next_chunk().map_err(failed)? {
            read += 1;
            match visit(path, &mut chunk, &mut seen) {
                Ok(()) => {}
                Err(Ended::Broke(error)) => return Err(failed(error)),
                Err(Ended::Failed(failure)) => return Err(failure),
            }
        }
        let warning = text::warning("warning");
        for damage in reader.damages() {
            anstream::eprintln!("{warning}: {}: {damage}", path.display());
        }
        let untold = reader.untold_damages();
        if untold > 0 {
            anstream::eprintln!(
                "{warning}: {}: {untold} more places are damaged",
                path.display()
            );
        }
        if read == 0 {
            let told = "nothing in it can be read: it ends before its first chunk does";
            return Err(Failure::File(path.clone(), told.to_owned()));
        }
        seen.damages += reader.damages().len() as u64 + untold;
    }
    Ok(seen)
}

/// `name` is one of `patterns`, whose `*` stands for any text; a pattern without a dot also fits the
/// name's last part. No patterns fit everything.
pub(crate) fn fits(name: &str, patterns: &[String]) -> bool {
    let short = name.rsplit('.').next().unwrap_or(name);
    patterns.is_empty()
        || patterns
            .iter()
            .any(|pattern| glob(pattern, name) || (!pattern.contains('.') && glob(pattern, short)))
}

fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        last = Some(part);
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    match last {
        None => rest.is_empty(),
        Some(part) => text.len() >= first.len() + part.len() && text.ends_with(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_names_with_and_without_prefix() {
        let fits = |name, pattern: &str| fits(name, &[pattern.to_owned()]);
        assert!(fits("jdk.VirtualThreadPinned", "jdk.VirtualThreadPinned"));
        assert!(fits("jdk.VirtualThreadPinned", "VirtualThreadPinned"));
        assert!(fits("jdk.VirtualThreadPinned", "VirtualThread*"));
        assert!(fits("vt.NativeCall", "vt.*"));
        assert!(fits("vt.NativeCall", "*Call"));
        assert!(!fits("jdk.VirtualThreadPinned", "vt.*"));
        assert!(!fits("jdk.VirtualThreadPinned", "VirtualThread"));
        assert!(!fits("vt.NativeCall", "*.jdk"));
        assert!(super::fits("anything", &[]));
    }
}
