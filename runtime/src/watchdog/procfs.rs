//! What the kernel says about one carrier's OS thread, read without disturbing it.
//!
//! Only `/proc` is read: no signal is sent, because a call interrupted by one may return `EINTR` even with
//! `SA_RESTART` (seen with `nanosleep`, `poll`, `epoll_wait` and timed futexes), and a detector must not change what
//! foreign code does. Where `/proc` is restricted every answer is `None`: unknown, never guessed.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The files of one OS thread, kept open: a read costs about a microsecond.
pub(super) struct Probe {
    stat: File,
    schedstat: File,
    syscall: Option<File>,
    /// Where the process's descriptors are listed.
    descriptors: PathBuf,
}

/// How long the thread ran and how long it waited for a core, in nanoseconds since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) ran: u64,
    pub(super) queued: u64,
}

/// The system call that the thread sits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Syscall {
    pub(super) number: u64,
    /// Its first argument.
    pub(super) first: u64,
    pub(super) stack_pointer: u64,
    pub(super) program_counter: u64,
}

impl Probe {
    /// Opens the files of that thread of this process, below `root`, which is `/proc`.
    pub(super) fn open(root: &Path, tid: u32) -> Option<Self> {
        let process = root.join("self");
        let folder = process.join(format!("task/{tid}"));
        let open = |name: &str| File::open(folder.join(name));
        // Reading another thread's `syscall` takes ptrace rights, which a container may withhold.
        Some(Self {
            stat: open("stat").ok()?,
            schedstat: open("schedstat").ok()?,
            syscall: open("syscall").ok(),
            descriptors: process.join("fd"),
        })
    }

    /// Does it sleep in the kernel (state S or D)?
    pub(super) fn is_sleeping(&self) -> Option<bool> {
        let mut buffer = [0; 512];
        let text = read(&self.stat, &mut buffer)?;
        // The name in parentheses may hold anything, parentheses included.
        let state = text[text.rfind(')')? + 1..].trim_start().chars().next()?;
        Some(matches!(state, 'S' | 'D'))
    }

    pub(super) fn times(&self) -> Option<Times> {
        let mut buffer = [0; 96];
        let mut figures = read(&self.schedstat, &mut buffer)?.split_ascii_whitespace();
        Some(Times {
            ran: figures.next()?.parse().ok()?,
            queued: figures.next()?.parse().ok()?,
        })
    }

    /// `None` if it runs, or if the kernel does not tell.
    pub(super) fn syscall(&self) -> Option<Syscall> {
        let mut buffer = [0; 256];
        parse_syscall(read(self.syscall.as_ref()?, &mut buffer)?)
    }

    /// What a descriptor of the process is, as events say it: `socket fd 7`, `file fd 5 (/var/lib/orders.db)`.
    pub(super) fn descriptor(&self, number: u64) -> Option<String> {
        let link = self.descriptors.join(number.to_string());
        let target = std::fs::read_link(&link).ok()?;
        let target = String::from_utf8_lossy(target.as_os_str().as_bytes());
        let kind = if target.starts_with("socket:") {
            "socket"
        } else if target.starts_with("pipe:") || is_fifo(&link) {
            "pipe"
        } else if let Some(anonymous) = target.strip_prefix("anon_inode:") {
            anonymous.trim_matches(['[', ']'])
        } else {
            return Some(format!("file fd {number} ({target})"));
        };
        Some(format!("{kind} fd {number}"))
    }
}

/// Asked of what the kernel remembers: a server that does not answer must not stop the watchdog too.
fn is_fifo(link: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
    statx(CWD, link, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE)
        .is_ok_and(|found| FileType::from_raw_mode(found.stx_mode.into()) == FileType::Fifo)
}

fn read<'a>(file: &File, buffer: &'a mut [u8]) -> Option<&'a str> {
    let count = rustix::io::pread(file, &mut *buffer, 0).ok()?;
    std::str::from_utf8(&buffer[..count]).ok()
}

fn parse_syscall(text: &str) -> Option<Syscall> {
    let mut words = text.split_ascii_whitespace();
    let number = words.next()?.parse().ok()?;
    let mut hexadecimal =
        words.map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok());
    let first = hexadecimal.next()??;
    let stack_pointer = hexadecimal.nth(5)??;
    let program_counter = hexadecimal.next()??;
    Some(Syscall {
        number,
        first,
        stack_pointer,
        program_counter,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_thread_is_in_no_system_call() {
        assert_eq!(parse_syscall("running\n"), None);
    }

    #[test]
    fn a_blocked_thread_names_its_call() {
        let call = parse_syscall("230 0x1 0x0 0x7f00 0x0 0x0 0x0 0x7ffd10 0x7f8a20\n")
            .expect("well formed");
        assert_eq!((call.number, call.first), (230, 1));
        assert_eq!(
            (call.stack_pointer, call.program_counter),
            (0x7ffd10, 0x7f8a20)
        );
    }

    #[test]
    fn the_calling_thread_can_be_probed() {
        let tid = rustix::thread::gettid()
            .as_raw_nonzero()
            .get()
            .cast_unsigned();
        let Some(probe) = Probe::open(Path::new("/proc"), tid) else {
            return;
        };
        assert_eq!(probe.is_sleeping(), Some(false));
        assert!(probe.times().is_some());
    }

    #[test]
    fn a_descriptor_is_told_by_its_kind() {
        use std::os::fd::AsRawFd;
        let probe = Probe {
            stat: File::open("/dev/null").expect("there"),
            schedstat: File::open("/dev/null").expect("there"),
            syscall: None,
            descriptors: PathBuf::from("/proc/self/fd"),
        };
        let told = |fd: &dyn AsRawFd| {
            let number = fd.as_raw_fd().unsigned_abs().into();
            let told = probe.descriptor(number).expect("it is open");
            told.replace(&number.to_string(), "N")
        };
        let (reader, _writer) = std::io::pipe().expect("a pipe");
        assert_eq!(told(&reader), "pipe fd N");
        let (one, _other) = std::os::unix::net::UnixStream::pair().expect("a pair");
        assert_eq!(told(&one), "socket fd N");
        let folder = tempfile::tempdir().expect("a folder");
        let file = File::create(folder.path().join("orders.db")).expect("a file");
        let text = told(&file);
        assert!(
            text.starts_with("file fd N (") && text.ends_with("orders.db)"),
            "{text}"
        );
        let fifo = folder.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).expect("a fifo");
        let fifo = File::options()
            .read(true)
            .write(true)
            .open(fifo)
            .expect("opens");
        assert_eq!(told(&fifo), "pipe fd N");
        assert_eq!(probe.descriptor(u64::MAX), None);
    }
}
