//! Memory that faults on every access, below each stack.
//!
//! Since Linux 6.13 a guard is a few markers in the page table. Before, it is a mapping of its own, and
//! what lies on both sides of it are two more.
#![expect(unsafe_code, reason = "takes access to memory away, and gives it back")]

use std::ffi::c_void;
use std::io;
use std::ptr;
use std::sync::OnceLock;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use super::extent::page_size;

/// Bytes of guard: C code that is built without stack probes jumps over a page.
pub(super) const GUARD: usize = 64 << 10;

/// `madvise` values of the markers; the libc crate has no names for them.
const MADV_GUARD_INSTALL: i32 = 102;
const MADV_GUARD_REMOVE: i32 = 103;

/// How guards are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuardKind {
    /// Markers in the page table.
    Marker,
    /// Mappings without access.
    Mapping,
}

impl GuardKind {
    /// What this kernel can do, asked once.
    pub(super) fn detect() -> Self {
        static KIND: OnceLock<GuardKind> = OnceLock::new();
        *KIND.get_or_init(|| {
            let (length, access) = (page_size(), ProtFlags::READ | ProtFlags::WRITE);
            // SAFETY: no address is asked for, so the new mapping replaces nothing.
            let probe =
                unsafe { mmap_anonymous(ptr::null_mut(), length, access, MapFlags::PRIVATE) };
            let Ok(probe) = probe else {
                return Self::Mapping;
            };
            // SAFETY: the page was mapped just now and nothing else knows it.
            let marked = unsafe { Self::Marker.close(probe.addr(), length) };
            // SAFETY: as above; it is not used after this.
            let _ = unsafe { munmap(probe, length) };
            if marked.is_ok() {
                Self::Marker
            } else {
                Self::Mapping
            }
        })
    }

    /// Makes every access to the range fault.
    ///
    /// # Safety
    ///
    /// The range must be mapped private and anonymous, and nobody may use it: markers lose its contents.
    pub(super) unsafe fn close(self, base: usize, length: usize) -> io::Result<()> {
        match self {
            // SAFETY: the caller's promise.
            Self::Marker => unsafe { mark(base, length, MADV_GUARD_INSTALL) },
            // SAFETY: the caller's promise.
            Self::Mapping => unsafe { allow(base, length, MprotectFlags::empty()) },
        }
    }

    /// Makes a range without access accessible; after markers it reads as zero.
    ///
    /// # Safety
    ///
    /// The range must have been closed by `close`, or mapped without access.
    pub(super) unsafe fn open(self, base: usize, length: usize) -> io::Result<()> {
        let all = MprotectFlags::READ | MprotectFlags::WRITE;
        match self {
            // SAFETY: the caller's promise.
            Self::Marker => unsafe { mark(base, length, MADV_GUARD_REMOVE) },
            // SAFETY: the caller's promise.
            Self::Mapping => unsafe { allow(base, length, all) },
        }
    }
}

/// Sets or takes away markers.
///
/// # Safety
///
/// As for `close` and `open`.
unsafe fn mark(base: usize, length: usize, advice: i32) -> io::Result<()> {
    let start: *mut c_void = ptr::without_provenance_mut(base);
    loop {
        // SAFETY: the caller's promise.
        if unsafe { libc::madvise(start, length, advice) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        // The kernel gives up a marking that races with faults in the range; it says to try again.
        let again = error.raw_os_error() == Some(libc::EAGAIN);
        if !again && error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Changes what may be done with a range.
///
/// # Safety
///
/// As for `close` and `open`.
unsafe fn allow(base: usize, length: usize, access: MprotectFlags) -> io::Result<()> {
    // SAFETY: the caller's promise.
    unsafe { mprotect(ptr::without_provenance_mut(base), length, access) }?;
    Ok(())
}
