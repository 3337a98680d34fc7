//! A scratch workspace and the program run in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

/// No run of these sizes takes near as long: what reaches it hangs.
const KILL_AFTER: Duration = Duration::from_secs(60);

/// A folder that is removed at the end of the test.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    /// The user's cache folder, outside the project.
    cache: tempfile::TempDir,
}

/// What a run printed and how it ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Project {
    /// Files by path, with their folders.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Self {
            folder: tempfile::tempdir().expect("a scratch folder"),
            cache: tempfile::tempdir().expect("a scratch folder"),
        };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// A package with this `src/lib.rs`.
    pub(crate) fn library(source: &str) -> Self {
        Self::new(&[
            (
                "Cargo.toml",
                "[package]\nname = 'shop'\nversion = '0.1.0'\nedition = '2024'\n",
            ),
            ("src/lib.rs", source),
        ])
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Runs the program at the top of the project.
    pub(crate) fn lint(&self, arguments: &[&str]) -> Outcome {
        self.lint_in("", arguments, "")
    }

    /// Runs the program in a folder of the project with this standard input.
    pub(crate) fn lint_in(&self, folder: &str, arguments: &[&str], input: &str) -> Outcome {
        run(self.program(folder, arguments), input)
    }

    fn program(&self, folder: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-vt-lint"));
        command
            .args(arguments)
            .current_dir(self.path(folder))
            .env("XDG_CACHE_HOME", self.cache.path());
        if self.path("home").exists() {
            command.env("CARGO_HOME", self.path("home"));
        }
        command
    }

    /// The user's cache folder.
    pub(crate) fn cache(&self) -> &Path {
        self.cache.path()
    }

    /// Runs the program at the top of the project with these variables.
    pub(crate) fn lint_with(&self, variables: &[(&str, &Path)], arguments: &[&str]) -> Outcome {
        let mut command = self.program("", arguments);
        clean(&mut command);
        command.envs(variables.iter().copied());
        run_as_it_is(command, "")
    }

    /// Runs the program at the top of the project, as somebody who is not the superuser.
    #[cfg(target_os = "linux")]
    pub(crate) fn lint_as_nobody(&self, arguments: &[&str]) -> Outcome {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        use std::os::unix::process::CommandExt as _;
        const NOBODY: u32 = 65_534;
        const SUPERUSER: u32 = 0;

        let owner = fs::metadata(self.folder.path()).expect("one's own").uid();
        if owner != SUPERUSER {
            return self.lint(arguments);
        }
        // Where the program was built, others may not look.
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("one's own");
        let program = folder.path().join("cargo-vt-lint");
        fs::copy(env!("CARGO_BIN_EXE_cargo-vt-lint"), &program).expect("a copy");
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", "/")
            .uid(NOBODY);
        run(command, "")
    }

    /// Runs cargo at the top of the project, whatever comes of it.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Outcome {
        let mut command = Command::new("cargo");
        command.args(arguments).current_dir(self.folder.path());
        run(command, "")
    }

    /// Runs git, or says that there is none.
    pub(crate) fn git(&self, arguments: &[&str]) -> bool {
        let mut command = Command::new("git");
        command
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@example.org",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .current_dir(self.folder.path());
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("git is not installed, so this part was not tested");
            return false;
        }
        let outcome = run(command, "");
        assert_eq!(outcome.code, 0, "git {arguments:?}: {outcome:?}");
        true
    }

    /// Every file with its text, to see what a run wrote.
    pub(crate) fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        collect(self.folder.path(), &mut all);
        all
    }
}

fn collect(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let metadata = fs::symlink_metadata(&path).expect("metadata");
        if metadata.is_dir() {
            collect(&path, all);
        } else if metadata.is_file() {
            all.insert(path.clone(), fs::read(&path).expect("a file"));
        } else {
            all.insert(path, Vec::new());
        }
    }
}

/// Runs a command to its end, or kills it and fails.
fn run(mut command: Command, input: &str) -> Outcome {
    clean(&mut command);
    run_as_it_is(command, input)
}

/// Takes away what a user's shell does not set.
fn clean(command: &mut Command) {
    // Cargo sets these for tests; a user's shell does not.
    for name in [
        "CARGO",
        "RUSTUP_TOOLCHAIN",
        "CARGO_MANIFEST_DIR",
        "CARGO_TARGET_DIR",
        "COLUMNS",
    ] {
        command.env_remove(name);
    }
}

fn run_as_it_is(mut command: Command, input: &str) -> Outcome {
    use std::io::Write as _;
    command
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // A program that does not want its input closes the pipe.
    let _ = child
        .stdin
        .take()
        .expect("piped")
        .write_all(input.as_bytes());
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    let waiter = Builder::new()
        .spawn(move || sender.send(child.wait_with_output()))
        .expect("a thread");
    let Ok(output) = receiver.recv_timeout(KILL_AFTER) else {
        let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        let _ = waiter.join();
        panic!("the program hung and was killed");
    };
    let output = output.expect("its output");
    Outcome {
        code: output.status.code().expect("an exit code, not a signal"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}
