//! What the kernel says about one carrier's OS thread, read without disturbing it.
//!
//! Only `/proc` is read: no signal is sent, because a call interrupted by one may return `EINTR` even with
//! `SA_RESTART` (seen with `nanosleep`, `poll`, `epoll_wait` and timed futexes), and a detector must not change what
//! foreign code does. Where `/proc` is restricted every answer is `None`: unknown, never guessed.

use std::fs::File;

/// The files of one OS thread, kept open: a read costs about a microsecond.
pub(super) struct Probe {
    stat: File,
    schedstat: File,
    syscall: Option<File>,
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
    pub(super) stack_pointer: u64,
    pub(super) program_counter: u64,
}

impl Probe {
    /// Opens the files of that thread of this process.
    pub(super) fn open(tid: u32) -> Option<Self> {
        let open = |name: &str| File::open(format!("/proc/self/task/{tid}/{name}"));
        // Reading another thread's `syscall` takes ptrace rights, which a container may withhold.
        Some(Self {
            stat: open("stat").ok()?,
            schedstat: open("schedstat").ok()?,
            syscall: open("syscall").ok(),
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
    let stack_pointer = hexadecimal.nth(6)??;
    let program_counter = hexadecimal.next()??;
    Some(Syscall {
        number,
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
        assert_eq!(call.number, 230);
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
        let Some(probe) = Probe::open(tid) else {
            return;
        };
        assert_eq!(probe.is_sleeping(), Some(false));
        assert!(probe.times().is_some());
    }
}
