//! Writes what a recorder holds as a file: whole or not at all, readable by its owner only.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use vt_runtime::event::{Pinned, Timestamp, clock};

use super::engine::Lost;
use crate::store::{CLASS_NAMES, CLASSES, ProgramRecord, Record, Records};
use crate::symbol::{Symbolizer, modules};
use crate::write::{About, HolderRow, SiteRow, Span, Spans, Writer};

/// Chunks of a file are about this long: what a reader holds at a time.
const CHUNK: usize = 12 << 20;

/// Why a dump was not written. The file that was there before, if any, is untouched.
#[derive(Debug)]
#[non_exhaustive]
pub struct DumpError {
    path: PathBuf,
    source: io::Error,
}

impl DumpError {
    pub(super) fn new(path: &Path, source: io::Error) -> Self {
        Self {
            path: path.to_owned(),
            source,
        }
    }
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.source.kind() {
            io::ErrorKind::NotFound => {
                let folder = folder_of(&self.path).display().to_string();
                write!(
                    f,
                    "{path}: the folder {folder} does not exist; create it first"
                )
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                write!(f, "{path}: the disk is full; nothing was written")
            }
            _ => write!(f, "{path}: {}", self.source),
        }
    }
}

impl std::error::Error for DumpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Everything a dump holds.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) anchor: clock::Anchor,
    pub(super) records: Records,
    pub(super) open: Vec<Pinned>,
    pub(super) open_spans: Vec<ProgramRecord>,
    pub(super) sites: Vec<SiteRow>,
    pub(super) holders: Vec<HolderRow>,
    pub(super) lost: Vec<Lost>,
    pub(super) about: About,
    pub(super) carriers: Vec<(usize, u32)>,
}

impl Contents {
    /// The bytes of a recording, at most the recorder's size. What does not fit is left out and counted as lost: the oldest
    /// parks, starts and ends first, then the oldest of all.
    pub(super) fn encode<S: Symbolizer + Send + 'static>(
        &mut self,
        symbols: impl Fn() -> S,
    ) -> io::Result<Vec<u8>> {
        loop {
            let bytes = self.write(symbols())?;
            let (size, most) = (bytes.len(), usize::try_from(self.about.max_size));
            let most = most.unwrap_or(usize::MAX);
            if size <= most || self.records.len() == 0 {
                return Ok(bytes);
            }
            // As many as the excess tells, and some more, so that few rounds are enough.
            let share = (size - most) as f64 / size as f64 + 1.0 / 16.0;
            self.leave_out((self.records.len() as f64 * share).ceil() as usize);
        }
    }

    fn leave_out(&mut self, mut count: usize) {
        let mut left_out = [0; CLASSES];
        for cheap in [true, false] {
            self.records.retain(|record| {
                let goes = count > 0 && (!cheap || record.is_common());
                if goes {
                    count -= 1;
                    left_out[record.class()] += 1;
                }
                !goes
            });
        }
        for (class, count) in CLASS_NAMES.into_iter().zip(left_out) {
            if count > 0 {
                let place = "dump";
                self.lost.push(Lost {
                    class,
                    count,
                    place,
                });
            }
        }
    }

    fn write(&self, symbolizer: impl Symbolizer + Send + 'static) -> io::Result<Vec<u8>> {
        let end = self.anchor.at;
        let mut done = 0;
        let mut writer = Writer::new(Vec::new(), symbolizer)
            .carrier_threads(
                self.carriers
                    .iter()
                    .map(|(number, id)| (*number as u64, (*id).into())),
            )
            .spans(Spans::of(self.program().chain(&self.open_spans)));
        let first_from = |number| self.records.from(number).map(begin).min();
        let mut first = first_from(0).unwrap_or(end);
        loop {
            let mut chunk = writer.chunk(self.span(first, end));
            let mut next = None;
            for record in self.records.from(done) {
                done += 1;
                match record {
                    Record::Runtime(recorded) => chunk.push(recorded),
                    Record::Program(record) => chunk.program(record),
                }
                if chunk.size() >= CHUNK {
                    next = first_from(done);
                    break;
                }
            }
            let Some(start) = next else {
                // What is said of the whole recording stands once, in its last chunk.
                self.open
                    .iter()
                    .for_each(|pinned| chunk.open_pin(end.0, pinned));
                self.open_spans
                    .iter()
                    .for_each(|span| chunk.open_span(span));
                self.sites.iter().for_each(|site| chunk.site(end.0, site));
                self.holders
                    .iter()
                    .for_each(|holder| chunk.holder(end.0, holder));
                for lost in &self.lost {
                    chunk.dropped(end.0, lost.class, lost.count, lost.place);
                }
                modules()
                    .iter()
                    .for_each(|module| chunk.module(end.0, module));
                chunk.about(&self.about);
                return chunk.finish(true)?.finish();
            };
            writer = chunk.finish(false)?;
            first = start;
        }
    }

    fn program(&self) -> impl Iterator<Item = &ProgramRecord> {
        self.records.iter().filter_map(|record| match record {
            Record::Program(record) => Some(record),
            Record::Runtime(_) => None,
        })
    }

    fn span(&self, start: Timestamp, end: Timestamp) -> Span {
        let wall = self
            .anchor
            .wall_time(start)
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let wall = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
        Span::new(wall, start.0, end.0.saturating_sub(start.0))
    }
}

/// When what a record tells of began.
fn begin(record: &Record) -> Timestamp {
    use vt_runtime::event::Event;
    match record {
        Record::Runtime(recorded) => match &recorded.event {
            Event::VirtualThreadPinned(pinned) => pinned.start.min(recorded.at),
            _ => recorded.at,
        },
        Record::Program(record) => record.at,
    }
}

/// How temporary files begin; the process's number follows.
const PREFIX: &str = ".vt-flight-";
/// How they end.
const SUFFIX: &str = ".jfr.tmp";
/// No dump takes so long: a temporary file of that age whose process is gone was left by one that was killed.
const LEFT: Duration = Duration::from_secs(60);

/// Writes a file so that readers see all of it or what was there before.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    remove_left(folder);
    // A temporary file is made for its owner only, and removed unless it is kept.
    let temporary = tempfile::Builder::new()
        .prefix(&format!("{PREFIX}{}-", std::process::id()))
        .suffix(SUFFIX)
        .tempfile_in(folder)?;
    temporary.as_file().write_all(bytes)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Removes what dumps of killed processes left in the folder. The age keeps files of processes that are
/// alive where this one cannot see them: another container's.
fn remove_left(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(process) = process_of(&name.to_string_lossy()) else {
            continue;
        };
        let age = entry.metadata().and_then(|about| about.modified());
        let is_old = age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFT));
        let is_gone =
            Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{process}")).exists();
        if is_old && is_gone {
            // Another process may have been quicker.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The process that a temporary file is of.
fn process_of(name: &str) -> Option<u32> {
    let (process, _) = name
        .strip_prefix(PREFIX)?
        .strip_suffix(SUFFIX)?
        .split_once('-')?;
    process.parse().ok()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests;
