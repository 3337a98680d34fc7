//! Who takes part: builds them, says who is missing and how to get them, and runs one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One program that runs workloads.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    command: Vec<String>,
}

/// The figures of one run, and how many cores other processes kept busy meanwhile.
pub(crate) struct Run {
    pub(crate) figures: BTreeMap<String, f64>,
    pub(crate) foreign: f64,
}

/// Longer than any workload takes; a peer that hangs is reported, not waited for.
const LIMIT: Duration = Duration::from_secs(120);

/// Builds all contestants that can be built here, ours first.
pub(crate) fn find() -> Result<Vec<Contestant>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--bins", "--manifest-path"]);
    run_to_end(build.arg(folder.join("Cargo.toml")))?;
    // This program lies beside them.
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let built = own.parent().ok_or("this program lies nowhere")?.to_owned();
    let mut found: Vec<_> = ["vt", "tokio", "may"]
        .map(|name| Contestant {
            name,
            command: vec![text(&built.join(name))],
        })
        .into();
    match go(folder, &built) {
        Ok(contestant) => found.push(contestant),
        Err(problem) => {
            println!("skipped: Go ({problem}); `go` of any version from 1.22 on PATH brings it in")
        }
    }
    match java(folder, &built) {
        Ok(contestant) => found.push(contestant),
        Err(problem) => println!(
            "skipped: the JDK ({problem}); `javac` from 17 on PATH and `PEER_JAVA`, the `java` of a JDK from 21, bring it in"
        ),
    }
    Ok(found)
}

fn go(folder: &Path, built: &Path) -> Result<Contestant, String> {
    let program = built.join("peer-go");
    run_to_end(
        Command::new("go")
            .args(["build", "-o"])
            .arg(&program)
            .arg(".")
            .current_dir(folder.join("go")),
    )?;
    Ok(Contestant {
        name: "go",
        command: vec![text(&program)],
    })
}

fn java(folder: &Path, built: &Path) -> Result<Contestant, String> {
    let classes = built.join("peer-java");
    run_to_end(
        Command::new("javac")
            .args(["--release", "17", "-d"])
            .arg(&classes)
            .arg(folder.join("java/Peer.java")),
    )?;
    let java = std::env::var("PEER_JAVA").unwrap_or_else(|_| "java".to_owned());
    let contestant = Contestant {
        name: "jdk",
        command: vec![java, "-cp".to_owned(), text(&classes), "Peer".to_owned()],
    };
    contestant
        .run(&["yield", "1", "1"], "2", &[])
        .map_err(|_| "it has no virtual threads".to_owned())?;
    Ok(contestant)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Runs a builder and says what it said if it failed.
fn run_to_end(command: &mut Command) -> Result<(), String> {
    let program = PathBuf::from(command.get_program());
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let output = command
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "{name}: {}",
        said.lines().last().unwrap_or("failed")
    ))
}

impl Contestant {
    /// Runs one workload; `None` if the contestant has nothing like it.
    pub(crate) fn run(
        &self,
        arguments: &[&str],
        workers: &str,
        environment: &[(&str, &str)],
    ) -> Result<Option<Run>, String> {
        let before = (busy(), Instant::now());
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        if self.name == "jdk" {
            // Flags of the virtual machine stand before the class.
            command = Command::new(&self.command[0]);
            command
                .arg(format!(
                    "-Djdk.virtualThreadScheduler.parallelism={workers}"
                ))
                .args(&self.command[1..]);
        }
        let mut child = command
            .args(arguments)
            .env("WORKERS", workers)
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let own = loop {
            // Read while it runs: the kernel forgets a process's figures with the process.
            let used = used_by(child.id());
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(_) => break used,
                None if before.1.elapsed() > LIMIT => {
                    // It may have ended meanwhile.
                    let _ = child.kill();
                    return Err(format!("did not end within {} s", LIMIT.as_secs()));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let foreign = ((busy() - before.0 - own) / before.1.elapsed().as_secs_f64()).max(0.0);
        let output = child
            .wait_with_output()
            .map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(said.lines().next().unwrap_or("failed").to_owned());
        }
        if said.trim() == "absent" {
            return Ok(None);
        }
        let figures = said
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='))
            .filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?)))
            .collect();
        Ok(Some(Run { figures, foreign }))
    }
}

/// Seconds that all cores were busy since the machine started.
fn busy() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks: Vec<f64> = stat
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .take(8)
        .filter_map(|field| field.parse().ok())
        .collect();
    // User, nice, system, idle, iowait, ..: all but the two that idle.
    ticks
        .iter()
        .enumerate()
        .filter(|(place, _)| *place != 3 && *place != 4)
        .map(|(_, ticks)| ticks)
        .sum::<f64>()
        / 100.0
}

/// Seconds of processor time of a process.
fn used_by(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let Some((_, fields)) = stat.rsplit_once(')') else {
        return 0.0;
    };
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks
        .filter_map(|field| field.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}
