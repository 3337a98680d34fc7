//! The compiler that runs the tests, which is the oldest one supported when CI runs them, and nightly make the
//! same of every macro.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The fixtures whose expansions are compared.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ui/pass");

#[test]
fn nightly_expands_alike() {
    if !run(Command::new("cargo").args(["+nightly", "--version"]))
        .status
        .success()
    {
        // Past the capture of passing tests, so that a run says what it left out.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: nightly_expands_alike, as there is no nightly toolchain"
        );
        return;
    }
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let own = library(
        &mut Command::new(env!("CARGO")),
        scratch.parent().expect("a target folder"),
    );
    let nightly = library(
        Command::new("cargo").arg("+nightly"),
        &scratch.join("nightly"),
    );

    let mut fixtures = 0;
    for entry in fs::read_dir(FIXTURES).expect("the fixtures") {
        let fixture = entry.expect("a fixture").path();
        let here = expansion(&mut Command::new("rustc"), &own, &fixture);
        let there = expansion(Command::new("rustc").arg("+nightly"), &nightly, &fixture);
        assert!(
            here.contains("fn main"),
            "{} does not expand",
            fixture.display()
        );
        assert_eq!(here, there, "{} expands differently", fixture.display());
        fixtures += 1;
    }
    assert!(fixtures >= 25, "only {fixtures} fixtures");
}

/// Builds the macros.
fn library(cargo: &mut Command, target: &Path) -> PathBuf {
    let built = run(cargo
        .args([
            "build",
            "--quiet",
            "--lib",
            "--package",
            "vt-macros",
            "--target-dir",
        ])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR")));
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    target
        .join("debug")
        .join(format!("{DLL_PREFIX}vt_macros{DLL_SUFFIX}"))
}

/// The source after all macros, as the compiler prints it. What comes after expansion fails without the runtime.
fn expansion(rustc: &mut Command, macros: &Path, fixture: &Path) -> String {
    let printed = run(rustc
        .args(["--edition=2024", "-Zunpretty=expanded"])
        .arg(format!("--extern=vt_runtime={}", macros.display()))
        .arg(fixture)
        .env("RUSTC_BOOTSTRAP", "1"));
    String::from_utf8(printed.stdout).expect("text")
}

fn run(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?} does not run: {error}"))
}
