//! Reads manifests when cargo cannot: not installed, too old, or refusing this workspace.
//!
//! Gives the same [`Metadata`] with less: members, targets by cargo's file conventions, dependency names. A
//! manifest that is not TOML still yields what lies in `src`.

mod package;

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::disk::normalize;
use super::metadata::{Metadata, Package};
use crate::config::matches_path;
use package::{inherited, json, package, strings};

/// The nearest `Cargo.toml` in `directory` or above it.
pub(crate) fn find_upwards(directory: &Path) -> Option<PathBuf> {
    directory
        .ancestors()
        .map(|folder| folder.join("Cargo.toml"))
        .find(|path| path.is_file())
}

/// The edition the manifest gives its package, `workspace = true` followed.
pub(crate) fn edition_of(manifest: &Path) -> Option<String> {
    let table = read(manifest)?;
    let package = table.get("package")?.as_table()?;
    let workspace = workspace_of(manifest, &table);
    Some(inherited(package, "edition", workspace.as_ref()).unwrap_or_else(|| "2015".to_owned()))
}

/// What the manifests say about the workspace of `manifest`.
pub(crate) fn walk(manifest: &Path) -> Metadata {
    let start = read(manifest).unwrap_or_default();
    let root = workspace_root(manifest, &start);
    let table = if root == manifest {
        start
    } else {
        read(&root).unwrap_or_default()
    };
    let directory = root.parent().unwrap_or(Path::new("/")).to_owned();
    let workspace = table.get("workspace").and_then(Value::as_table).cloned();
    let mut manifests = vec![root.clone(), manifest.to_owned()];
    if let Some(workspace) = &workspace {
        let excluded = strings(workspace.get("exclude"));
        for pattern in strings(workspace.get("members")) {
            for member in expand(&directory, &pattern) {
                let relative = member
                    .strip_prefix(&directory)
                    .unwrap_or(&member)
                    .to_string_lossy()
                    .into_owned();
                if !excluded
                    .iter()
                    .any(|pattern| matches_path(pattern, &relative))
                {
                    manifests.push(member.join("Cargo.toml"));
                }
            }
        }
    }
    manifests.retain(|path| path.is_file());
    manifests.sort();
    manifests.dedup();
    let inherit = workspace.as_ref();
    let packages: Vec<Package> = manifests
        .iter()
        .filter_map(|path| package(path, inherit))
        .collect();
    let ids: Vec<String> = packages.iter().map(|package| package.id.clone()).collect();
    let metadata = workspace
        .as_ref()
        .and_then(|table| json(table.get("metadata")))
        .unwrap_or_default();
    Metadata {
        packages,
        workspace_members: ids.clone(),
        workspace_default_members: ids,
        workspace_root: directory,
        metadata,
    }
}

/// One package by its manifest, outside any workspace.
pub(crate) fn read_package(manifest: &Path) -> Option<Package> {
    package(manifest, None)
}

fn read(path: &Path) -> Option<Table> {
    fs::read_to_string(path).ok()?.parse().ok()
}

/// The manifest with the `[workspace]` that `manifest` belongs to; itself when there is none.
fn workspace_root(manifest: &Path, table: &Table) -> PathBuf {
    if table.contains_key("workspace") {
        return manifest.to_owned();
    }
    let directory = manifest.parent().unwrap_or(Path::new("/"));
    let named = table
        .get("package")
        .and_then(|package| package.get("workspace"))
        .and_then(Value::as_str);
    if let Some(named) = named {
        return normalize(&directory.join(named).join("Cargo.toml"));
    }
    let above = directory
        .ancestors()
        .skip(1)
        .map(|folder| folder.join("Cargo.toml"));
    above
        .filter(|path| path.is_file())
        .find(|path| {
            read(path).is_some_and(|table| {
                let members = table
                    .get("workspace")
                    .map(|workspace| strings(workspace.get("members")));
                let folder = path.parent().unwrap_or(Path::new("/"));
                members.is_some_and(|members| {
                    members.iter().any(|pattern| {
                        expand(folder, pattern)
                            .iter()
                            .any(|member| member == directory)
                    })
                })
            })
        })
        .unwrap_or_else(|| manifest.to_owned())
}

fn workspace_of(manifest: &Path, table: &Table) -> Option<Table> {
    let root = workspace_root(manifest, table);
    read(&root)?.get("workspace")?.as_table().cloned()
}

/// The folders a member pattern names; a `*` stands within one part, as cargo's patterns are used.
fn expand(directory: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut folders = vec![directory.to_owned()];
    for part in pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
    {
        if !part.contains(['*', '?']) {
            folders = folders
                .iter()
                .map(|folder| normalize(&folder.join(part)))
                .collect();
            continue;
        }
        let below = folders
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flatten()
            .flatten();
        let named = below.filter(|entry| matches_path(part, &entry.file_name().to_string_lossy()));
        folders = named
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect();
        folders.sort();
    }
    folders
}
