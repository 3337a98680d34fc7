//! Whether a file has come out of the page cache of late, so that asking the kernel not to wait can be spared.
//!
//! `preadv2(RWF_NOWAIT)` costs a sixth more than `pread`. A thread that has its carrier to itself, while another carrier can
//! take what is spawned, keeps nobody waiting even if a page has to come from the disk after all: such a thread reads
//! a warm file plainly. A file is warm after [`ENOUGH`] reads in a row that did not have to wait, and is asked anew every
//! [`AGAIN`] reads. Only regular files are ever warm: a pipe keeps its reader for as long as its writer likes.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FileType, fstat};

/// Reads in a row that found all in the page cache.
const ENOUGH: u32 = 8;
/// Every how manieth read asks nevertheless.
const AGAIN: u32 = 64;
/// It is no regular file.
const NEVER: u32 = u32::MAX;

/// See the module's documentation. Threads that share a file may lose each other's counts, which is as good.
#[derive(Debug, Default)]
pub(super) struct Warmth(AtomicU32);

impl Warmth {
    /// May this read be done without asking?
    #[inline]
    pub(super) fn is_trusted(&self) -> bool {
        let count = self.0.load(Ordering::Relaxed);
        let is_warm = (ENOUGH..NEVER).contains(&count) && !count.is_multiple_of(AGAIN);
        if is_warm {
            self.0.store((count + 1) % NEVER, Ordering::Relaxed);
        }
        is_warm
    }

    /// A read that asked came out of the page cache.
    pub(super) fn hit(&self, file: impl AsFd) {
        let count = self.0.load(Ordering::Relaxed);
        if count == NEVER {
            return;
        }
        let mut next = (count + 1) % NEVER;
        if next == ENOUGH {
            let is_regular = |stat: rustix::fs::Stat| {
                FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            };
            if !fstat(file).is_ok_and(is_regular) {
                next = NEVER;
            }
        }
        self.0.store(next, Ordering::Relaxed);
    }

    /// A read that asked would have had to wait.
    pub(super) fn miss(&self) {
        if self.0.load(Ordering::Relaxed) != NEVER {
            self.0.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusted(warmth: &Warmth, file: &std::fs::File, reads: u32) -> u32 {
        let mut trusted = 0;
        for _read in 0..reads {
            if warmth.is_trusted() {
                trusted += 1;
            } else {
                warmth.hit(file);
            }
        }
        trusted
    }

    #[test]
    fn a_file_is_trusted_after_hits_in_a_row_and_asked_again_now_and_then() {
        let file = std::fs::File::open("/proc/self/exe").expect("there is a program");
        let warmth = Warmth::default();
        assert_eq!(trusted(&warmth, &file, ENOUGH), 0);
        assert_eq!(trusted(&warmth, &file, 10 * AGAIN), 10 * (AGAIN - 1));
        warmth.miss();
        assert_eq!(trusted(&warmth, &file, ENOUGH), 0);
    }

    #[test]
    fn what_is_no_regular_file_is_never_trusted() {
        let file = std::fs::File::open("/dev/zero").expect("every Linux has it");
        let warmth = Warmth::default();
        assert_eq!(trusted(&warmth, &file, 10 * AGAIN), 0);
        warmth.miss();
        assert_eq!(trusted(&warmth, &file, 10 * AGAIN), 0);
    }
}
