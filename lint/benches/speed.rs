//! How long the lint takes, and how much memory: `cargo bench -p cargo-vt-lint [-- FOLDER]`.
//!
//! Without a folder it makes two workspaces of about 150,000 and 1.4 million lines from the sources in cargo's registry cache
//! and lints each cold and, where nothing has changed, again. With a folder (a package that builds) it also runs
//! `cargo clippy` there, cold and after an edit, between its own runs, so that both see the same machine. Writes only
//! below the system's folder for temporary files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LINT: &str = env!("CARGO_BIN_EXE_cargo-vt-lint");

fn main() {
    let folder = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let scratch = std::env::temp_dir().join(format!("vt-lint-speed-{}", std::process::id()));
    println!(
        "load when it began: {}",
        fs::read_to_string("/proc/loadavg")
            .unwrap_or_default()
            .trim()
    );
    match folder {
        Some(folder) => against_clippy(Path::new(&folder), &scratch),
        None => {
            for lines in [150_000, 1_400_000] {
                workspace_of(lines, &scratch);
            }
        }
    }
    let _ = fs::remove_dir_all(&scratch);
}

/// Runs a command to its end: wall-clock time, and the most memory it had in KiB.
#[expect(
    clippy::disallowed_methods,
    reason = "a program of its own that samples another one"
)]
fn measure(command: &mut Command) -> (Duration, u64) {
    let started = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("the child is ours").is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let high = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let high = high.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        peak = peak.max(high.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    (started.elapsed(), peak)
}

fn lint(folder: &Path, cache: &Path) -> (Duration, u64) {
    measure(
        Command::new(LINT)
            .current_dir(folder)
            .env("XDG_CACHE_HOME", cache)
            .args(["--workspace", "--exit-zero", "--quiet"]),
    )
}

fn workspace_of(wanted: usize, scratch: &Path) {
    let folder = scratch.join(wanted.to_string());
    let lines = collect(wanted, &folder);
    let cache = scratch.join(format!("cache-{wanted}"));
    for round in 1..=3 {
        let _ = fs::remove_dir_all(&cache);
        let (cold, memory) = lint(&folder, &cache);
        let (warm, _) = lint(&folder, &cache);
        println!(
            "{lines} lines, round {round}: cold {cold:.2?}, warm {warm:.2?}, {} MB",
            memory / 1024
        );
    }
}

/// Copies packages from the registry cache until there are enough lines.
fn collect(wanted: usize, folder: &Path) -> usize {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let registries = fs::read_dir(home.expect("a home folder").join("registry/src"));
    let mut packages: Vec<PathBuf> = registries
        .expect("a registry cache")
        .flatten()
        .filter_map(|registry| fs::read_dir(registry.path()).ok())
        .flatten()
        .flatten()
        .map(|package| package.path())
        .collect();
    packages.sort();
    let (mut lines, mut members) = (0, Vec::new());
    for package in packages {
        let name = package.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split("-0.").next().unwrap_or_default().to_owned();
        // Tables of constants say nothing about analysis.
        let is_table = ["windows", "winapi", "linux-raw", "libc"];
        if lines >= wanted
            || name.contains("-sys")
            || is_table.iter().any(|start| name.starts_with(start))
            || !package.join("src").is_dir()
        {
            continue;
        }
        let to = folder.join(members.len().to_string());
        lines += copy(&package.join("src"), &to.join("src"));
        // Every member needs a name of its own.
        let manifest = format!(
            "[package]\nname = \"m{}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n",
            members.len()
        );
        let root = if to.join("src/lib.rs").exists() || to.join("src/main.rs").exists() {
            manifest
        } else {
            continue;
        };
        fs::write(to.join("Cargo.toml"), root).expect("a manifest is written");
        members.push(format!("\"{}\"", members.len()));
    }
    let manifest = format!(
        "[workspace]\nresolver = \"2\"\nmembers = [{}]\n",
        members.join(",")
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest is written");
    lines
}

fn copy(from: &Path, to: &Path) -> usize {
    fs::create_dir_all(to).expect("a scratch folder");
    let mut lines = 0;
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            lines += copy(&path, &to);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read(&path).unwrap_or_default();
            lines += text.iter().filter(|byte| **byte == b'\n').count();
            fs::write(&to, text).expect("a copy is written");
        }
    }
    lines
}

fn against_clippy(folder: &Path, scratch: &Path) {
    let target = scratch.join("target");
    let clippy = || {
        let mut command = Command::new("cargo");
        command
            .current_dir(folder)
            .args(["clippy", "--offline", "--target-dir"])
            .arg(&target);
        measure(&mut command).0
    };
    let (cold, _) = lint(folder, &scratch.join("cache"));
    let clippy_cold = clippy();
    let (again, memory) = lint(folder, &scratch.join("another"));
    let root = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
    let root = root.into_iter().find(|root| root.exists());
    if let Some(root) = root.and_then(|root| fs::File::options().append(true).open(root).ok()) {
        // An edit is a new time stamp for cargo.
        let _ = root.set_modified(std::time::SystemTime::now());
    }
    let clippy_edited = clippy();
    println!(
        "cold: lint {cold:.2?}, clippy {clippy_cold:.2?}: {:.0} times",
        clippy_cold.as_secs_f64() / cold.as_secs_f64()
    );
    println!(
        "after an edit (the lint without any cache): lint {again:.2?}, clippy {clippy_edited:.2?}: {:.1} times; {} MB",
        clippy_edited.as_secs_f64() / again.as_secs_f64(),
        memory / 1024
    );
}
