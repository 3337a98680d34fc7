//! Files given by name, and source text from standard input: each a crate of its own.

use std::collections::{BTreeSet, HashMap};
use std::env;
use std::path::{Path, PathBuf};

use super::disk::{Disk, normalize};
use super::{LoadError, Loaded, Request, cfg, manifest, settings};
use crate::input::{CrateInput, Edition, TargetKind};

/// Makes a crate of every file.
///
/// # Errors
/// When none of the files is there, or the configuration is wrong.
pub(crate) fn load(request: &Request) -> Result<Loaded, LoadError> {
    let here = env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let directories: Vec<PathBuf> = request
        .files
        .iter()
        .filter(|path| path.is_dir())
        .cloned()
        .collect();
    if !directories.is_empty() {
        return Err(LoadError::Directories(directories));
    }
    let missing: Vec<PathBuf> = request
        .files
        .iter()
        .filter(|path| !path.exists())
        .cloned()
        .collect();
    if request.stdin.is_none() && missing.len() == request.files.len() {
        return Err(LoadError::MissingFiles(missing));
    }
    let mut editions = HashMap::new();
    let mut crates = Vec::new();
    let mut allowed = Vec::new();
    let mut roots: Vec<PathBuf> = request
        .files
        .iter()
        .map(|path| normalize(&here.join(path)))
        .collect();
    let stdin = request
        .stdin
        .as_ref()
        .map(|(path, text)| (normalize(&here.join(path)), text.clone()));
    roots.extend(stdin.iter().map(|(path, _)| path.clone()));
    let mut seen = BTreeSet::new();
    roots.retain(|path| seen.insert(path.clone()));
    for root in roots {
        let directory = root.parent().unwrap_or(Path::new("/")).to_owned();
        let edition = request.edition.unwrap_or_else(|| {
            *editions
                .entry(directory.clone())
                .or_insert_with(|| edition_near(&directory))
        });
        crates.push(loose(root, edition));
        allowed.push(directory);
    }
    let (mut config, config_origin) = settings::of_files(&crates, request)?;
    config.tests |= request.tests;
    let mut disk = Disk::new(here.clone(), allowed);
    if let Some((path, text)) = stdin {
        disk.overlay(path, text);
    }
    let cfg = cfg::of_target(request.target.as_deref(), config.tests)?;
    Ok(Loaded {
        crates,
        disk,
        cfg,
        config,
        config_origin,
        root: here,
        notices: Vec::new(),
    })
}

fn loose(root: PathBuf, edition: Edition) -> CrateInput {
    let stem = root.file_stem().unwrap_or_default().to_string_lossy();
    let name: String = stem
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    CrateInput {
        package_name: name.clone(),
        name,
        package: None,
        manifest: None,
        target_kind: TargetKind::File,
        root,
        edition,
        features: BTreeSet::new(),
        declared_features: BTreeSet::new(),
        dependencies: Vec::new(),
        reported: true,
    }
}

/// The edition of the package a file seems to belong to; that of new packages when there is none.
fn edition_near(directory: &Path) -> Edition {
    let manifest = manifest::find_upwards(directory);
    let edition = manifest.and_then(|path| manifest::edition_of(&path));
    edition
        .and_then(|text| Edition::parse(&text))
        .unwrap_or(Edition::E2024)
}
