//! The lint on the demo's own source, through its own command line, joined with the recording.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use serde_json::Value;

use crate::phase::Failure;

/// First argument with which the demo is the lint: so that it needs no second program.
pub(crate) const AS_LINT: &str = "as-cargo-vt-lint";

/// What the lint found in the demo, and where it was written down.
pub(crate) struct Found {
    pub(crate) findings: Vec<Finding>,
    /// As a person sees it, the costliest first.
    pub(crate) human: String,
    pub(crate) sarif: PathBuf,
}

/// One finding, as its JSON says.
pub(crate) struct Finding {
    pub(crate) rule: String,
    pub(crate) message: String,
    /// `path:line` of the blocking call.
    pub(crate) at: String,
    /// `path:line` of the guard.
    pub(crate) guard_at: Option<String>,
}

/// The lint's own main.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let program = OsString::from("cargo-vt-lint");
    vt_lint::cli::main(std::iter::once(program).chain(arguments).collect())
}

/// Checks the package that the demo belongs to, with what the recording saw.
pub(crate) fn run(folder: &Path, recording: &Path) -> Result<Found, Failure> {
    let json = lint(recording, "json")?;
    let findings = json
        .lines()
        .filter_map(|line| finding(&serde_json::from_str(line).ok()?))
        .collect();
    let sarif = folder.join("findings.sarif");
    std::fs::write(&sarif, lint(recording, "sarif")?).map_err(Failure::while_("the SARIF file"))?;
    Ok(Found {
        findings,
        human: lint(recording, "human")?,
        sarif,
    })
}

/// Runs the lint in a process of its own and returns what it prints.
fn lint(recording: &Path, format: &str) -> Result<String, Failure> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = std::env::current_exe().map_err(Failure::while_("finding this program"))?;
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(program)
        .arg(AS_LINT)
        .arg("--manifest-path")
        .arg(package.join("Cargo.toml"))
        // The workspace's own settings leave the demo out: its first half is wrong on purpose.
        .arg("--config")
        .arg(package.join("demo/vt-lint.toml"))
        .args([
            "--package",
            env!("CARGO_PKG_NAME"),
            "--color",
            "never",
            "--message-format",
            format,
        ])
        .arg("--trace")
        .arg(recording)
        .output()
        .map_err(Failure::while_("the lint"))?;
    // 1 says that something was found, which is what is hoped for.
    if !matches!(status.code(), Some(0 | 1)) {
        return Err(Failure::new(format!(
            "the lint failed: {}",
            String::from_utf8_lossy(&stderr)
        )));
    }
    Ok(String::from_utf8_lossy(&stdout).into_owned())
}

fn finding(line: &Value) -> Option<Finding> {
    let message = line.get("message")?;
    let spans = message.get("spans")?.as_array()?;
    let place = |primary: bool| {
        let span = spans.iter().find(|span| span["is_primary"] == primary)?;
        Some(format!(
            "{}:{}",
            span["file_name"].as_str()?,
            span["line_start"]
        ))
    };
    Some(Finding {
        rule: message["code"]["code"].as_str()?.to_owned(),
        message: message["message"].as_str()?.to_owned(),
        at: place(true)?,
        guard_at: place(false),
    })
}
