//! Writes what a recorder holds as a file: whole or not at all, readable by its owner only.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use vt_runtime::event::{Pinned, Timestamp, clock};

use super::engine::Lost;
use crate::store::{ProgramRecord, Record};
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
    pub(super) records: Vec<Record>,
    pub(super) open: Vec<Pinned>,
    pub(super) open_spans: Vec<ProgramRecord>,
    pub(super) sites: Vec<SiteRow>,
    pub(super) holders: Vec<HolderRow>,
    pub(super) lost: Vec<Lost>,
    pub(super) about: About,
    pub(super) carriers: Vec<(u64, u64)>,
}

impl Contents {
    /// Writes a recording to `out`.
    pub(super) fn write<W: Write>(
        &self,
        out: W,
        symbolizer: impl Symbolizer + Send + 'static,
    ) -> io::Result<W> {
        let end = self.anchor.at;
        let mut records = self.records.iter();
        let mut writer = Writer::new(out, symbolizer)
            .carrier_threads(self.carriers.iter().copied())
            .spans(Spans::of(self.program().chain(&self.open_spans)));
        let first_of = |rest: &[Record]| rest.iter().map(begin).min();
        let mut first = first_of(&self.records).unwrap_or(end);
        loop {
            let mut chunk = writer.chunk(self.span(first, end));
            let mut next = None;
            for record in records.by_ref() {
                match record {
                    Record::Runtime(recorded) => chunk.push(recorded),
                    Record::Program(record) => chunk.program(record),
                }
                if chunk.size() >= CHUNK {
                    next = first_of(records.as_slice());
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

/// Writes a file through `write`, so that readers see all of it or what was there before.
pub(super) fn write_whole(
    path: &Path,
    write: impl FnOnce(BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    let folder = folder_of(path);
    remove_left(folder);
    // A temporary file is made for its owner only, and removed unless it is kept.
    let temporary = tempfile::Builder::new()
        .prefix(&format!("{PREFIX}{}-", std::process::id()))
        .suffix(SUFFIX)
        .tempfile_in(folder)?;
    write(BufWriter::with_capacity(1 << 20, temporary.as_file()))?;
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
