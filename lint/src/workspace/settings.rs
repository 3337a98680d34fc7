//! Which configuration applies: `--config`, else the nearest `vt-lint.toml`, else the package's metadata, else the
//! workspace's.

use std::fs;
use std::path::Path;

use super::metadata::Metadata;
use super::{LoadError, Request};
use crate::config::{Config, ConfigError};
use crate::input::CrateInput;

const FILE: &str = "vt-lint.toml";

/// How a run without configuration names it.
const NONE: &str = "none found, so the defaults";

/// The configuration of a run over packages.
pub(crate) fn of_packages(
    metadata: &Metadata,
    selected: &[usize],
    manifest: &Path,
    request: &Request,
) -> Result<(Config, String), LoadError> {
    if let Some(path) = &request.config {
        return Ok(read(path)?);
    }
    let start = match selected {
        [only] => metadata.packages[*only].directory(),
        _ => manifest.parent().unwrap_or(Path::new("/")),
    };
    // The search ends at the workspace's root: what lies above it is somebody else's.
    for directory in start.ancestors() {
        let path = directory.join(FILE);
        if path.is_file() {
            return Ok(read(&path)?);
        }
        if directory == metadata.workspace_root {
            break;
        }
    }
    if let [only] = selected
        && let Some(value) = metadata.packages[*only].metadata.get("vt-lint")
    {
        let origin = format!(
            "[package.metadata.vt-lint] in {}",
            metadata.packages[*only].manifest_path.display()
        );
        return Ok((Config::from_json(value, &origin)?, origin));
    }
    match metadata.metadata.get("vt-lint") {
        Some(value) => {
            let origin = format!(
                "[workspace.metadata.vt-lint] in {}",
                metadata.workspace_root.join("Cargo.toml").display()
            );
            Ok((Config::from_json(value, &origin)?, origin))
        }
        None => Ok((Config::default(), NONE.to_owned())),
    }
}

/// The configuration of a run over loose files: the nearest file above the first of them.
pub(crate) fn of_files(
    crates: &[CrateInput],
    request: &Request,
) -> Result<(Config, String), LoadError> {
    if let Some(path) = &request.config {
        return Ok(read(path)?);
    }
    let folders = crates
        .first()
        .into_iter()
        .flat_map(|file| file.root.ancestors().skip(1));
    match folders
        .map(|folder| folder.join(FILE))
        .find(|path| path.is_file())
    {
        Some(path) => Ok(read(&path)?),
        None => Ok((Config::default(), NONE.to_owned())),
    }
}

fn read(path: &Path) -> Result<(Config, String), ConfigError> {
    let origin = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|error| ConfigError::new(&origin, format!("cannot be read: {error}")))?;
    Ok((Config::from_toml(&text, &origin)?, origin))
}
