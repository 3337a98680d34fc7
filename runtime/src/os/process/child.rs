//! A child that was started: its pipes, and the wait for its end.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::panic::Location;
use std::process::{ExitStatus, Output};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::{ChildStderr, ChildStdin, ChildStdout};
use crate::os::polled::{Attempt, Done, Polled};
use crate::thread;

/// A child process, as [`std::process::Child`]. Dropping it neither ends the child nor waits for it.
///
/// # Pinning
///
/// Waiting unmounts, unless pinned.
#[derive(Debug)]
pub struct Child {
    /// What the child reads, if that is a pipe.
    pub stdin: Option<ChildStdin>,
    /// The child's output, if that is a pipe.
    pub stdout: Option<ChildStdout>,
    /// The child's errors, if that is a pipe.
    pub stderr: Option<ChildStderr>,
    inner: std::process::Child,
    /// Becomes readable when the child ends.
    end: Option<End>,
}

struct End(Polled<OwnedFd>);

impl std::fmt::Debug for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.inner().fmt(f)
    }
}

impl Child {
    pub(super) fn started(mut inner: std::process::Child) -> io::Result<Self> {
        Ok(Self {
            stdin: inner.stdin.take().map(ChildStdin::new).transpose()?,
            stdout: inner.stdout.take().map(ChildStdout::new).transpose()?,
            stderr: inner.stderr.take().map(ChildStderr::new).transpose()?,
            inner,
            end: None,
        })
    }

    /// The kernel's number for it.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.inner.id()
    }

    /// Ends it at once.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn kill(&mut self) -> io::Result<()> {
        self.inner.kill()
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.inner.try_wait()
    }

    /// Closes the pipe it reads from and waits for its end.
    ///
    /// # Errors
    ///
    /// Those of the operating system, or an interrupt: it may be waited for again.
    #[track_caller]
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        let at = Location::caller();
        drop(self.stdin.take());
        if let Some(status) = self.inner.try_wait()? {
            return Ok(status);
        }
        // Nobody has waited for it, so its number still means this child.
        let end = match &self.end {
            Some(end) => end,
            None => {
                let number = Pid::from_child(&self.inner);
                let pidfd = pidfd_open(number, PidfdFlags::empty())?;
                self.end.insert(End(Polled::new(pidfd)))
            }
        };
        let inner = &mut self.inner;
        end.0.run(Attempt::read(at), |_| match inner.try_wait()? {
            Some(status) => Ok(Done::perhaps_more(status)),
            None => Err(io::ErrorKind::WouldBlock.into()),
        })
    }

    /// Closes the pipe it reads from, gathers what it writes, and waits for its end.
    ///
    /// # Errors
    ///
    /// Those of the operating system, or an interrupt.
    #[track_caller]
    pub fn wait_with_output(mut self) -> io::Result<Output> {
        drop(self.stdin.take());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        match (self.stdout.take(), self.stderr.take()) {
            (None, None) => {}
            (Some(mut out), None) => drop(out.read_to_end(&mut stdout)?),
            (None, Some(mut err)) => drop(err.read_to_end(&mut stderr)?),
            // Both at once, else a full pipe of one would stop the child and with it the other.
            (Some(out), Some(err)) => gather(out, &mut stdout, err, &mut stderr)?,
        }
        let status = self.wait()?;
        Ok(Output {
            status,
            stdout,
            stderr,
        })
    }
}

fn gather(
    mut out: ChildStdout,
    stdout: &mut Vec<u8>,
    mut err: ChildStderr,
    stderr: &mut Vec<u8>,
) -> io::Result<()> {
    let (first, second) = if thread::is_virtual() {
        thread::scope(|scope| {
            let errors = scope.spawn(|| err.read_to_end(stderr));
            (out.read_to_end(stdout), errors.join())
        })
    } else {
        std::thread::scope(|scope| {
            let errors = scope.spawn(|| err.read_to_end(stderr));
            (out.read_to_end(stdout), errors.join())
        })
    };
    first?;
    second.unwrap_or_else(|payload| std::panic::resume_unwind(payload))?;
    Ok(())
}
