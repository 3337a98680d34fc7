//! `File`: std's, which the page cache serves in place and the offload pool otherwise.

use std::fs::{FileTimes, Metadata, Permissions, TryLockError};
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::{Errno, ReadWriteFlags};

use super::OpenOptions;
use super::warmth::Warmth;
use crate::current;
use crate::os::blocking;
use crate::thread;

/// The offset that stands for the file's own position.
const HERE: u64 = u64::MAX;

/// An open file, as [`std::fs::File`].
///
/// # Pinning
///
/// Unmounts while the offload pool works for it, unless pinned. Reads and writes that the page cache can serve at once
/// do not leave the carrier at all. A thread that has its carrier to itself reads a file that has been in the page cache of late
/// without asking, and keeps the carrier should a page have to come from the disk.
#[derive(Debug)]
pub struct File {
    inner: std::fs::File,
    warmth: Warmth,
    /// The file system does not know `RWF_NOWAIT` for reads, for writes.
    waits: [AtomicBool; 2],
}

macro_rules! offloaded {
    ($($(#[$doc:meta])+ $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {$(
        $(#[$doc])+
        ///
        /// # Errors
        ///
        /// Those of the operating system.
        #[track_caller]
        pub fn $name(&self $(, $argument: $type)*) -> io::Result<$result> {
            blocking(move || self.inner.$name($($argument),*))
        }
    )+};
}

impl File {
    /// Opens for reading.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        OpenOptions::new().read(true).open(path)
    }

    /// Opens for writing; makes it, or empties it if it is there.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[track_caller]
    pub fn create<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)
    }

    /// Makes it, for reading and writing.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if it is there; those of the operating system.
    #[track_caller]
    pub fn create_new<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
    }

    /// Everything else about opening.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    offloaded! {
        /// Waits until content and metadata are on the disk.
        sync_all() -> ();
        /// Waits until the content is on the disk.
        sync_data() -> ();
        /// Cuts it off or fills it up with zeros.
        set_len(size: u64) -> ();
        /// What is known about it.
        metadata() -> Metadata;
        /// Changes who may do what.
        set_permissions(permissions: Permissions) -> ();
        /// Changes its time stamps.
        set_times(times: FileTimes) -> ();
    }

    /// A second handle to the same open file, with the position in common.
    ///
    /// # Errors
    ///
    /// If no descriptor is left.
    pub fn try_clone(&self) -> io::Result<Self> {
        self.inner.try_clone().map(Self::from)
    }

    /// Waits for the exclusive lock on the file.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[track_caller]
    pub fn lock(&self) -> io::Result<()> {
        wait_for_lock(|| self.try_lock())
    }

    /// Waits for a shared lock on the file.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[track_caller]
    pub fn lock_shared(&self) -> io::Result<()> {
        wait_for_lock(|| self.try_lock_shared())
    }

    /// Takes the exclusive lock if nobody has one.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if somebody has; those of the operating system.
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        self.inner.try_lock()
    }

    /// Takes a shared lock if nobody has the exclusive one.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if somebody has; those of the operating system.
    pub fn try_lock_shared(&self) -> Result<(), TryLockError> {
        self.inner.try_lock_shared()
    }

    /// Gives the lock back.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn unlock(&self) -> io::Result<()> {
        self.inner.unlock()
    }

    /// The file as std's.
    #[must_use]
    pub fn into_std(self) -> std::fs::File {
        self.inner
    }

    /// What the page cache gives or takes at once; `None` if that takes the pool.
    fn at_once<T>(
        waits: &AtomicBool,
        attempt: impl FnOnce() -> Result<T, Errno>,
    ) -> Option<io::Result<T>> {
        if !thread::is_virtual() || waits.load(Ordering::Relaxed) {
            return None;
        }
        match attempt() {
            Err(Errno::AGAIN) => None,
            // Not for this kind of file, or not in this kernel.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::SPIPE) => {
                waits.store(true, Ordering::Relaxed);
                None
            }
            result => Some(result.map_err(io::Error::from)),
        }
    }

    /// Inlined, as are those above it: after a system call a return is predicted wrongly.
    #[inline]
    #[track_caller]
    fn read_from(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.warmth.is_trusted() && current::is_alone() {
            return Ok(match offset {
                HERE => rustix::io::read(&self.inner, buf)?,
                offset => rustix::io::pread(&self.inner, buf, offset)?,
            });
        }
        self.read_parts(&mut [IoSliceMut::new(buf)], offset)
    }

    #[inline(never)]
    #[track_caller]
    fn read_parts(&self, bufs: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        let (fd, flags) = (&self.inner, ReadWriteFlags::NOWAIT);
        let now = || rustix::io::preadv2(fd, bufs, offset, flags);
        if let Some(read) = Self::at_once(&self.waits[0], now) {
            self.warmth.hit(fd);
            return read;
        }
        self.warmth.miss();
        blocking(move || match (bufs, offset) {
            (bufs, HERE) => (&self.inner).read_vectored(bufs),
            ([one], offset) => self.inner.read_at(one, offset),
            (many, offset) => Ok(rustix::io::preadv(&self.inner, many, offset)?),
        })
    }

    #[track_caller]
    fn write_parts(&self, bufs: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
        let (fd, flags) = (&self.inner, ReadWriteFlags::NOWAIT);
        let now = || rustix::io::pwritev2(fd, bufs, offset, flags);
        if let Some(written) = Self::at_once(&self.waits[1], now) {
            return written;
        }
        blocking(|| match (bufs, offset) {
            (bufs, HERE) => (&self.inner).write_vectored(bufs),
            ([one], offset) => self.inner.write_at(one, offset),
            (many, offset) => Ok(rustix::io::pwritev(&self.inner, many, offset)?),
        })
    }
}

/// A wait on the pool would take one of its threads from those whose work lets the lock's holder go on; so it is
/// asked again and again, more and more seldom.
#[track_caller]
fn wait_for_lock(attempt: impl Fn() -> Result<(), TryLockError>) -> io::Result<()> {
    let mut pause = Duration::from_micros(100);
    loop {
        match attempt() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => thread::sleep(pause),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

impl Read for &File {
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.read_from(buf, HERE)
    }

    #[track_caller]
    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.read_parts(bufs, HERE)
    }

    #[track_caller]
    fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
        blocking(|| (&self.inner).read_to_end(buf))
    }

    #[track_caller]
    fn read_to_string(&mut self, buf: &mut String) -> io::Result<usize> {
        blocking(|| (&self.inner).read_to_string(buf))
    }
}

impl Write for &File {
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.write_parts(&[IoSlice::new(buf)], HERE)
    }

    #[track_caller]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write_parts(bufs, HERE)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for &File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.inner).seek(to)
    }
}

impl Read for File {
    #[track_caller]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buf)
    }

    #[track_caller]
    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        (&*self).read_vectored(bufs)
    }

    #[track_caller]
    fn read_to_end(&mut self, buf: &mut Vec<u8>) -> io::Result<usize> {
        (&*self).read_to_end(buf)
    }

    #[track_caller]
    fn read_to_string(&mut self, buf: &mut String) -> io::Result<usize> {
        (&*self).read_to_string(buf)
    }
}

impl Write for File {
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        (&*self).write(buf)
    }

    #[track_caller]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        (&*self).write_vectored(bufs)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

impl FileExt for File {
    #[inline]
    #[track_caller]
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.read_from(buf, offset)
    }

    #[inline]
    #[track_caller]
    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match self.read_from(buf, offset) {
                Ok(0) => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the file ended before the buffer was full",
                    ));
                }
                Ok(count) => {
                    buf = &mut buf[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    #[track_caller]
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.write_parts(&[IoSlice::new(buf)], offset)
    }
}

impl From<std::fs::File> for File {
    fn from(inner: std::fs::File) -> Self {
        Self {
            inner,
            warmth: Warmth::default(),
            waits: [AtomicBool::new(false), AtomicBool::new(false)],
        }
    }
}

impl From<File> for std::fs::File {
    fn from(file: File) -> Self {
        file.inner
    }
}

impl From<OwnedFd> for File {
    fn from(fd: OwnedFd) -> Self {
        std::fs::File::from(fd).into()
    }
}

impl From<File> for OwnedFd {
    fn from(file: File) -> Self {
        file.inner.into()
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}

impl IntoRawFd for File {
    fn into_raw_fd(self) -> RawFd {
        self.inner.into_raw_fd()
    }
}
