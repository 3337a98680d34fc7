//! What git is asked: names of commits, and objects.
//!
//! **Invariant:** git never compares the working tree itself, because filters, monitors and diff drivers of the
//! checked repository would run then.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// How asking git went wrong.
pub(super) enum Asked {
    NoGit(std::io::Error),
    Refused(String),
}

impl From<String> for Asked {
    fn from(cause: String) -> Self {
        Self::Refused(cause)
    }
}

/// Git without pagers, monitors, hooks and fetching.
fn git(root: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("--no-pager")
        .args([
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "protocol.allow=never",
        ])
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .current_dir(root);
    git
}

/// Gives git's answer, `None` when it has none.
pub(super) fn rev_parse(root: &Path, arguments: &[&str]) -> Result<Option<String>, Asked> {
    let output = git(root)
        .arg("rev-parse")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(Asked::NoGit)?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let words = words
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("fatal: ")
            .to_owned();
        return if words.is_empty() {
            Ok(None)
        } else {
            Err(Asked::Refused(words))
        };
    }
    Ok(Some(
        String::from_utf8_lossy(&output.stdout)
            .trim_end_matches('\n')
            .to_owned(),
    ))
}

/// One `git cat-file` that prints object after object.
pub(super) struct Objects {
    child: std::process::Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Objects {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        let mut child = git(root)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let answers = child
            .stdout
            .take()
            .ok_or_else(|| io::Error::other("it has no output"))?;
        Ok(Self {
            child,
            answers: BufReader::new(answers),
        })
    }

    /// The text of `name` (`commit:path`), or `None` when there is no such file in that commit.
    pub(super) fn read(&mut self, name: &str) -> io::Result<Option<String>> {
        // The protocol is a line each; a path with a line break in it cannot be asked for.
        if name.contains('\n') {
            return Ok(None);
        }
        let input = self
            .child
            .stdin
            .as_mut()
            .ok_or_else(|| io::Error::other("it has no input"))?;
        writeln!(input, "{name}").and_then(|()| input.flush())?;
        let mut header = String::new();
        self.answers.read_line(&mut header)?;
        let mut words = header.trim_end().rsplit(' ');
        let (size, kind) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let Ok(size) = size.parse::<usize>() else {
            return Ok(None);
        };
        // A line feed follows the object.
        let mut bytes = vec![0; size + 1];
        self.answers.read_exact(&mut bytes)?;
        bytes.pop();
        Ok((kind == "blob").then(|| String::from_utf8_lossy(&bytes).into_owned()))
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Closing its input ends it; waiting keeps no zombie behind.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
