//! Which features of each package are on.
//!
//! Follows cargo's rules within the workspace: what a package asks of another member is on there too. Features of
//! packages outside it do not matter, since only names are needed from those.

use std::collections::BTreeSet;

use super::metadata::{Metadata, Package};
use super::{LoadError, Request};

/// The features that are on, for each package of `metadata` in order. `selected` are those the request names.
///
/// # Errors
/// When no selected package has a feature that was asked for.
pub(crate) fn active(
    metadata: &Metadata,
    selected: &[usize],
    request: &Request,
) -> Result<Vec<BTreeSet<String>>, LoadError> {
    let mut on: Vec<BTreeSet<String>> = vec![BTreeSet::new(); metadata.packages.len()];
    // Only what is still to be followed stands here, so cycles between features end.
    let mut todo: Vec<(usize, String)> = Vec::new();
    for (index, package) in metadata.packages.iter().enumerate() {
        if request.all_features && selected.contains(&index) {
            todo.extend(package.features.keys().map(|name| (index, name.clone())));
        } else if is_built_anyway(metadata, index)
            && (!request.no_default_features || !selected.contains(&index))
        {
            todo.push((index, "default".to_owned()));
        }
        for dependency in &package.dependencies {
            if let Some(other) = member(metadata, dependency) {
                todo.extend(dependency.features.iter().map(|name| (other, name.clone())));
                if dependency.uses_default_features {
                    todo.push((other, "default".to_owned()));
                }
            }
        }
    }
    for feature in &request.features {
        let (package, name) = feature
            .split_once('/')
            .map_or((None, feature.as_str()), |(p, n)| (Some(p), n));
        let declaring: Vec<usize> = (0..metadata.packages.len())
            .filter(|index| match package {
                Some(package) => metadata.packages[*index].name == package,
                None => selected.contains(index),
            })
            .filter(|&index| metadata.packages[index].features.contains_key(name))
            .collect();
        if declaring.is_empty() {
            return Err(LoadError::UnknownFeature(feature.clone()));
        }
        todo.extend(declaring.into_iter().map(|index| (index, name.to_owned())));
    }
    while let Some((index, name)) = todo.pop() {
        let package = &metadata.packages[index];
        let Some(implied) = package.features.get(&name) else {
            continue;
        };
        if !on[index].insert(name) {
            continue;
        }
        for entry in implied {
            todo.extend(implied_by(metadata, index, package, entry));
        }
    }
    Ok(on)
}

/// Whether a package is built for its own sake, not only for those that depend on it.
fn is_built_anyway(metadata: &Metadata, index: usize) -> bool {
    metadata
        .workspace_members
        .contains(&metadata.packages[index].id)
}

/// What one entry of a feature's list switches on: a feature of the same package or of another member.
fn implied_by(
    metadata: &Metadata,
    index: usize,
    package: &Package,
    entry: &str,
) -> Vec<(usize, String)> {
    if entry.starts_with("dep:") {
        return Vec::new();
    }
    let Some((dependency, feature)) = entry.split_once('/') else {
        return vec![(index, entry.to_owned())];
    };
    // `name/feature` also switches on the optional dependency, whose implicit feature has its name.
    let weak = dependency.ends_with('?');
    let dependency = dependency.trim_end_matches('?');
    let mut implied = Vec::new();
    if !weak {
        implied.push((index, dependency.to_owned()));
    }
    for candidate in &package.dependencies {
        let code_name = candidate.rename.as_ref().unwrap_or(&candidate.name);
        if code_name == dependency
            && let Some(other) = member(metadata, candidate)
        {
            implied.push((other, feature.to_owned()));
        }
    }
    implied
}

/// The package of this run that a dependency is: a member by its path, or one from the registry cache.
pub(crate) fn member(
    metadata: &Metadata,
    dependency: &super::metadata::PackageDependency,
) -> Option<usize> {
    if dependency.resolved.is_some() {
        return dependency.resolved;
    }
    let path = dependency.path.as_ref()?;
    metadata
        .packages
        .iter()
        .position(|package| package.name == dependency.name && package.directory() == path)
}
