//! What cargo says about a workspace, and asking it.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

/// The part of `cargo metadata`'s answer that is used.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub packages: Vec<Package>,
    pub workspace_members: Vec<String>,
    #[serde(default)]
    pub workspace_default_members: Vec<String>,
    pub workspace_root: PathBuf,
    #[serde(default)]
    pub metadata: serde_json::Value,
}

/// One member of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub name: String,
    pub version: String,
    pub id: String,
    pub manifest_path: PathBuf,
    pub dependencies: Vec<PackageDependency>,
    pub targets: Vec<Target>,
    pub features: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub metadata: serde_json::Value,
}

impl Package {
    /// The folder of the manifest.
    pub(crate) fn directory(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("/"))
    }
}

/// One line of a dependency table.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PackageDependency {
    pub name: String,
    #[serde(default)]
    pub rename: Option<String>,
    /// `None` for a normal one, else `dev` or `build`.
    #[serde(default)]
    pub kind: Option<String>,
    #[serde(default)]
    pub path: Option<PathBuf>,
    #[serde(default)]
    pub features: Vec<String>,
    #[serde(default)]
    pub uses_default_features: bool,
    /// The package it is, as an index into [`Metadata::packages`], when it comes from the registry cache.
    #[serde(skip)]
    pub resolved: Option<usize>,
}

/// One crate of a package.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub name: String,
    pub kind: Vec<String>,
    pub src_path: PathBuf,
    pub edition: String,
    #[serde(default, rename = "required-features")]
    pub required_features: Vec<String>,
}

/// Asks cargo about the workspace of `manifest`.
///
/// # Errors
/// Cargo's own words when it cannot answer, which is no reason to stop: see `manifest.rs`.
pub(crate) fn ask_cargo(manifest: &Path) -> Result<Metadata, String> {
    // `cargo vt-lint` runs us with the cargo that the user chose; a direct call finds it on the path.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let output = Command::new(&cargo)
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version=1",
            "--manifest-path",
        ])
        .arg(manifest)
        .current_dir(neutral_directory(manifest))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`{}` does not start: {error}", cargo.to_string_lossy()))?;
    if !output.status.success() {
        return Err(first_cause(&String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("its answer is not understood: {error}"))
}

/// The root of the file system: no repository's `.cargo/config.toml` or toolchain file applies there.
pub(crate) fn neutral_directory(near: &Path) -> &Path {
    near.ancestors()
        .last()
        .filter(|root| !root.as_os_str().is_empty())
        .unwrap_or(Path::new("/"))
}

/// Cargo's first `error:` line and its causes, on one line.
fn first_cause(stderr: &str) -> String {
    let lines = stderr
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && *line != "Caused by:");
    let text: Vec<&str> = lines
        .skip_while(|line| !line.starts_with("error"))
        .take(3)
        .collect();
    match text.join(": ").strip_prefix("error: ") {
        Some(text) => text.to_owned(),
        None if text.is_empty() => "no reason given".to_owned(),
        None => text.join(": "),
    }
}
