//! Who takes part. Ours, tokio and may are this program itself; Go's server is built where there is a `go`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first is ours.
pub(crate) const BUILT_IN: [&str; 3] = ["vt", "tokio", "may"];
/// The one that has a program of its own.
pub(crate) const GO: &str = "go";

/// Builds Go's server; who cannot be built is named.
pub(crate) fn find() -> Vec<&'static str> {
    let mut found = BUILT_IN.to_vec();
    match build_go() {
        Ok(()) => found.push(GO),
        Err(problem) => {
            println!("skipped: Go ({problem}); `go` of any version from 1.22 on PATH brings it in");
        }
    }
    found
}

fn build_go() -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("go");
    let program = go_program().map_err(|error| error.to_string())?;
    let output = Command::new("go")
        .args(["build", "-o"])
        .arg(program)
        .arg(".")
        .current_dir(folder)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().last().unwrap_or("it failed").to_owned())
}

/// Beside this program.
fn go_program() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("peers-io-go"))
}

/// Becomes Go's server, which stays on the core of this process.
pub(crate) fn become_go(workload: &str) -> io::Error {
    use std::os::unix::process::CommandExt;
    match go_program() {
        // As many threads as the others have; by itself it would take the number of cores it may use, which is one.
        Ok(program) => Command::new(program)
            .arg(workload)
            .env("GOMAXPROCS", "2")
            .exec(),
        Err(error) => error,
    }
}
