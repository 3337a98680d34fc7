//! Which packages of the workspace are checked: cargo's rules for `-p`, `--workspace` and `--exclude`.

use std::path::Path;

use super::metadata::{Metadata, Package};
use super::{LoadError, Request};
use crate::config::matches_path;

/// The packages the request selects, as indices, in order. `manifest` is the one the search began with.
///
/// # Errors
/// When a name fits no package.
pub(crate) fn select(
    metadata: &Metadata,
    request: &Request,
    manifest: &Path,
) -> Result<Vec<usize>, LoadError> {
    let members: Vec<usize> = (0..metadata.packages.len())
        .filter(|&index| {
            metadata
                .workspace_members
                .contains(&metadata.packages[index].id)
        })
        .collect();
    let fits = |name: &String| -> Result<Vec<usize>, LoadError> {
        let found: Vec<usize> = members
            .iter()
            .copied()
            .filter(|&index| is_named(&metadata.packages[index], name))
            .collect();
        if found.is_empty() {
            let known = members
                .iter()
                .map(|&index| metadata.packages[index].name.clone())
                .collect();
            return Err(LoadError::UnknownPackage {
                name: name.clone(),
                known,
            });
        }
        Ok(found)
    };
    let mut selected = Vec::new();
    if !request.packages.is_empty() {
        for name in &request.packages {
            selected.extend(fits(name)?);
        }
    } else if request.workspace {
        selected = members.clone();
    } else {
        selected = default_of(metadata, manifest, &members);
    }
    for name in &request.exclude {
        let excluded = fits(name)?;
        selected.retain(|index| !excluded.contains(index));
    }
    selected.sort_unstable();
    selected.dedup();
    Ok(selected)
}

/// The package of the manifest, or what the workspace builds when nothing is named.
fn default_of(metadata: &Metadata, manifest: &Path, members: &[usize]) -> Vec<usize> {
    let own = members
        .iter()
        .copied()
        .find(|&index| metadata.packages[index].manifest_path == manifest);
    let at_root = manifest.parent() == Some(&metadata.workspace_root);
    let default_of_workspace = || {
        let is_default = |index: &usize| {
            metadata
                .workspace_default_members
                .contains(&metadata.packages[*index].id)
        };
        members
            .iter()
            .copied()
            .filter(is_default)
            .collect::<Vec<usize>>()
    };
    match own {
        Some(own) if !at_root => vec![own],
        _ => Some(default_of_workspace())
            .filter(|list| !list.is_empty())
            .unwrap_or_else(|| members.to_vec()),
    }
}

/// Whether `-p name` means this package: its name, `name@version`, its id, or a pattern of the name.
fn is_named(package: &Package, name: &str) -> bool {
    let (plain, version) = name
        .split_once('@')
        .map_or((name, None), |(name, version)| (name, Some(version)));
    package.id == name
        || (!plain.is_empty()
            && matches_path(plain, &package.name)
            && version.is_none_or(|version| package.version == version))
}
