//! What to run, and how.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

use super::Child;
use crate::os::blocking;

/// A child process to come, as [`std::process::Command`].
pub struct Command {
    inner: std::process::Command,
    /// Who chose the streams: `output` pipes those that nobody did.
    chosen: [bool; 3],
}

impl Command {
    /// Runs that program, found by `PATH`.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Self {
        std::process::Command::new(program).into()
    }

    /// One more argument.
    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Self {
        self.inner.arg(arg);
        self
    }

    /// More arguments.
    pub fn args<I, S>(&mut self, args: I) -> &mut Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.inner.args(args);
        self
    }

    /// Sets an environment variable.
    pub fn env<K: AsRef<OsStr>, V: AsRef<OsStr>>(&mut self, key: K, value: V) -> &mut Self {
        self.inner.env(key, value);
        self
    }

    /// Sets environment variables.
    pub fn envs<I, K, V>(&mut self, variables: I) -> &mut Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.inner.envs(variables);
        self
    }

    /// Takes an environment variable away.
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Self {
        self.inner.env_remove(key);
        self
    }

    /// Takes all environment variables away.
    pub fn env_clear(&mut self) -> &mut Self {
        self.inner.env_clear();
        self
    }

    /// Runs in that folder.
    pub fn current_dir<P: AsRef<Path>>(&mut self, folder: P) -> &mut Self {
        self.inner.current_dir(folder);
        self
    }

    /// What the child reads.
    pub fn stdin<T: Into<Stdio>>(&mut self, stdin: T) -> &mut Self {
        self.inner.stdin(stdin);
        self.chosen[0] = true;
        self
    }

    /// Where the child's output goes.
    pub fn stdout<T: Into<Stdio>>(&mut self, stdout: T) -> &mut Self {
        self.inner.stdout(stdout);
        self.chosen[1] = true;
        self
    }

    /// Where the child's errors go.
    pub fn stderr<T: Into<Stdio>>(&mut self, stderr: T) -> &mut Self {
        self.inner.stderr(stderr);
        self.chosen[2] = true;
        self
    }

    /// Starts the child. What is not said otherwise it has in common with this process.
    ///
    /// # Errors
    ///
    /// Those of the operating system: the program may not be there.
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        let inner = &mut self.inner;
        Child::started(blocking(|| inner.spawn())?)
    }

    /// Runs the child to its end and gathers its output and errors.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[track_caller]
    pub fn output(&mut self) -> io::Result<Output> {
        if !self.chosen[0] {
            self.inner.stdin(Stdio::null());
        }
        if !self.chosen[1] {
            self.inner.stdout(Stdio::piped());
        }
        if !self.chosen[2] {
            self.inner.stderr(Stdio::piped());
        }
        self.spawn()?.wait_with_output()
    }

    /// Runs the child to its end.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    #[track_caller]
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        self.spawn()?.wait()
    }

    /// The std command inside, for everything else.
    pub fn as_std_mut(&mut self) -> &mut std::process::Command {
        &mut self.inner
    }
}

impl From<std::process::Command> for Command {
    fn from(inner: std::process::Command) -> Self {
        Self {
            inner,
            chosen: [false; 3],
        }
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
