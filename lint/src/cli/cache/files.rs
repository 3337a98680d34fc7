//! What single files were lowered to, one file of the cache each, named by what it depends on.
//!
//! Each begins with the hash of the rest, so that one that was damaged is as good as none.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::folder::{create_private, folder, make_room};
use super::program;
use crate::input::Memory;

/// Files kept; the oldest make room.
const MAX_FILES: usize = 20_000;

/// The folder with what is kept.
pub(super) struct Files {
    folder: PathBuf,
    program: u64,
    keeps: bool,
    wrote: AtomicBool,
}

impl Files {
    /// Opens the folder. `None` when it has nothing and gets nothing.
    pub(super) fn open(keeps: bool) -> Option<Self> {
        let folder = folder()?.join("files");
        let mut hasher = DefaultHasher::new();
        program()?.hash(&mut hasher);
        if keeps {
            create_private(&folder).ok()?;
        }
        folder.is_dir().then_some(Self {
            folder,
            program: hasher.finish(),
            keeps,
            wrote: AtomicBool::new(false),
        })
    }

    fn path(&self, key: [u64; 2]) -> PathBuf {
        let [a, b] = key;
        self.folder
            .join(format!("{a:016x}{:016x}", b ^ self.program))
    }
}

impl Memory for Files {
    fn recall(&self, key: [u64; 2]) -> Option<Vec<u8>> {
        let mut bytes = fs::read(self.path(key)).ok()?;
        let rest = bytes.split_off(8.min(bytes.len()));
        (bytes == check_sum(&rest)).then_some(rest)
    }

    fn keeps(&self) -> bool {
        self.keeps
    }

    fn keep(&self, key: [u64; 2], bytes: &[u8]) {
        let path = self.path(key);
        let new = path.with_extension(std::process::id().to_string());
        let whole = [&check_sum(bytes)[..], bytes].concat();
        // A full disk costs the next run's time, not this one's findings.
        let _ = fs::write(&new, whole).and_then(|()| fs::rename(&new, &path));
        self.wrote.store(true, Relaxed);
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if self.wrote.load(Relaxed) {
            // As above.
            let _ = make_room(&self.folder, MAX_FILES);
        }
    }
}

fn check_sum(bytes: &[u8]) -> [u8; 8] {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish().to_le_bytes()
}
