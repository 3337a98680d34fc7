//! Keeps the report of a run, so that the same run over unchanged sources only reads them.
//!
//! An entry is found by everything a report depends on besides file contents: this program, the crates with their
//! features, the `cfg`, the configuration. It lists each question the analysis asked about files with the answer it
//! got, and holds as long as every answer is still the same. Contents are compared by hash, never by time.
//!
//! After an edit the rest of the files need not be parsed again: `files` keeps what each was lowered to.
//!
//! Entries lie in the user's cache folder, or in the target folder that `CARGO_TARGET_DIR` names, never in the checked
//! code. What goes wrong with them costs time only.

mod files;
mod folder;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use serde::{Deserialize, Serialize};

use self::files::Files;
use self::folder::{create_private, folder, make_room};
use crate::check::{Report, check};
use crate::input::{Input, Memory, SourceError, Sources};
use crate::workspace::Loaded;

/// Entries kept; the oldest make room.
const MAX_ENTRIES: usize = 64;

/// What the analysis asked and was told, and what it made of it.
#[derive(Serialize, Deserialize)]
struct Entry {
    read: BTreeMap<PathBuf, Digest>,
    exists: BTreeMap<PathBuf, bool>,
    report: Report,
}

/// A text's or error's hash, wide enough that two texts do not meet by chance.
type Digest = [u64; 2];

/// A report and whether it is that of an earlier run.
pub(super) struct Answer {
    pub(super) report: Report,
    pub(super) is_cached: bool,
}

/// Checks what was loaded, or takes the answer from the last time.
pub(super) fn cached_check(loaded: &Loaded, use_cache: bool) -> Answer {
    let fresh = |report| Answer {
        report,
        is_cached: false,
    };
    let input = loaded.input();
    let Some(path) = use_cache.then(|| entry_path(loaded)).flatten() else {
        return fresh(check(&input, &loaded.config));
    };
    let earlier = read_entry(&path);
    // The first run is in nobody's way: only who runs again after an edit gains from what files were lowered to.
    let is_edit = earlier.is_some();
    if let Some(entry) = earlier
        && entry.holds(&loaded.disk)
    {
        return Answer {
            report: entry.report,
            is_cached: true,
        };
    }
    let recorded = Recorded {
        sources: &loaded.disk,
        read: Mutex::default(),
        exists: Mutex::default(),
        files: Files::open(is_edit),
    };
    let report = check(
        &Input {
            sources: &recorded,
            ..input
        },
        &loaded.config,
    );
    let entry = Entry {
        read: take(recorded.read),
        exists: take(recorded.exists),
        report,
    };
    // A full disk or a read-only home costs the cache, not the findings.
    let _ = write_entry(&path, &entry);
    fresh(entry.report)
}

impl Entry {
    fn holds(&self, sources: &dyn Sources) -> bool {
        self.exists
            .par_iter()
            .all(|(path, answer)| sources.exists(path) == *answer)
            && self
                .read
                .par_iter()
                .all(|(path, answer)| digest(&sources.read(path)) == *answer)
    }
}

/// Sources that write down what they were asked.
struct Recorded<'a> {
    sources: &'a dyn Sources,
    read: Mutex<BTreeMap<PathBuf, Digest>>,
    exists: Mutex<BTreeMap<PathBuf, bool>>,
    files: Option<Files>,
}

impl Sources for Recorded<'_> {
    fn read(&self, path: &Path) -> Result<Arc<str>, SourceError> {
        let answer = self.sources.read(path);
        let digest = digest(&answer);
        self.read
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(path.to_owned(), digest);
        answer
    }

    fn exists(&self, path: &Path) -> bool {
        let answer = self.sources.exists(path);
        self.exists
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(path.to_owned(), answer);
        answer
    }

    fn display(&self, path: &Path) -> String {
        self.sources.display(path)
    }

    fn memory(&self) -> Option<&dyn Memory> {
        self.files.as_ref().map(|files| files as &dyn Memory)
    }
}

fn take<T>(of: Mutex<T>) -> T {
    of.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn digest(answer: &Result<Arc<str>, SourceError>) -> Digest {
    [1u8, 2].map(|salt| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        match answer {
            Ok(text) => text.hash(&mut hasher),
            Err(error) => (false, error.to_string()).hash(&mut hasher),
        }
        hasher.finish()
    })
}

/// Where the answer to this question would lie; `None` when there is no place for it.
fn entry_path(loaded: &Loaded) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    program()?.hash(&mut hasher);
    loaded.root.hash(&mut hasher);
    format!("{:?}", loaded.crates).hash(&mut hasher);
    format!("{:?}", loaded.config).hash(&mut hasher);
    format!("{:?}", loaded.cfg).hash(&mut hasher);
    Some(folder()?.join(format!("{:016x}.json", hasher.finish())))
}

/// This program: another build of it may understand code differently.
fn program() -> Option<(&'static str, u64, SystemTime)> {
    let program = fs::metadata(env::current_exe().ok()?).ok()?;
    Some((
        env!("CARGO_PKG_VERSION"),
        program.len(),
        program.modified().ok()?,
    ))
}

fn read_entry(path: &Path) -> Option<Entry> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes beside the entry and renames, so that no other run reads half of it.
fn write_entry(path: &Path, entry: &Entry) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    create_private(folder)?;
    let new = path.with_extension(std::process::id().to_string());
    fs::write(&new, serde_json::to_vec(entry)?)?;
    fs::rename(&new, path)?;
    make_room(folder, MAX_ENTRIES)
}
