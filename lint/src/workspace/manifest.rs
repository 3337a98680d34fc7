//! Reads manifests when cargo cannot: not installed, too old, or refusing this workspace.
//!
//! Gives the same [`Metadata`] with less: members, targets by cargo's file conventions, dependency names. A
//! manifest that is not TOML still yields what lies in `src`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::disk::normalize;
use super::metadata::{Metadata, Package, PackageDependency, Target};
use crate::config::matches_path;

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

fn package(manifest: &Path, workspace: Option<&Table>) -> Option<Package> {
    let directory = manifest.parent()?;
    let table = read(manifest);
    if let Some(table) = &table
        && !table.contains_key("package")
    {
        return None;
    }
    let table = table.unwrap_or_default();
    let empty = Table::new();
    let package = table
        .get("package")
        .and_then(Value::as_table)
        .unwrap_or(&empty);
    let folder = || {
        directory.file_name().map_or_else(
            || "main".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        )
    };
    let name = package
        .get("name")
        .and_then(Value::as_str)
        .map_or_else(folder, str::to_owned);
    let version = inherited(package, "version", workspace).unwrap_or_else(|| "0.0.0".to_owned());
    // Without any manifest to read, today's edition is the best guess; without the key, cargo means 2015.
    let default = if package.is_empty() { "2024" } else { "2015" };
    let edition = inherited(package, "edition", workspace).unwrap_or_else(|| default.to_owned());
    let features = table
        .get("features")
        .and_then(Value::as_table)
        .into_iter()
        .flatten();
    Some(Package {
        id: format!("path+file://{}#{name}@{version}", directory.display()),
        targets: targets(directory, &table, &name, &edition),
        dependencies: dependencies(directory, &table, workspace),
        features: features
            .map(|(name, value)| (name.clone(), strings(Some(value))))
            .collect(),
        metadata: json(package.get("metadata")).unwrap_or_default(),
        manifest_path: manifest.to_owned(),
        name,
        version,
    })
}

fn targets(directory: &Path, table: &Table, package: &str, edition: &str) -> Vec<Target> {
    let mut found: BTreeMap<PathBuf, Target> = BTreeMap::new();
    let mut add = |name: &str, kind: &str, path: PathBuf| {
        let target = Target {
            name: name.to_owned(),
            kind: vec![kind.to_owned()],
            src_path: path.clone(),
            edition: edition.to_owned(),
            required_features: Vec::new(),
        };
        if path.is_file() {
            found.entry(path).or_insert(target);
        }
    };
    let named =
        |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    let library = table.get("lib");
    let name = library
        .and_then(|entry| named(entry, "name"))
        .unwrap_or_else(|| package.replace('-', "_"));
    let path = library
        .and_then(|entry| named(entry, "path"))
        .unwrap_or_else(|| "src/lib.rs".to_owned());
    let is_macro = library
        .and_then(|entry| entry.get("proc-macro"))
        .and_then(Value::as_bool)
        == Some(true);
    add(
        &name,
        if is_macro { "proc-macro" } else { "lib" },
        normalize(&directory.join(path)),
    );
    for (kind, folder) in [
        ("bin", "src/bin"),
        ("example", "examples"),
        ("test", "tests"),
        ("bench", "benches"),
    ] {
        for entry in table
            .get(kind)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if let (Some(name), Some(path)) = (named(entry, "name"), named(entry, "path")) {
                add(&name, kind, normalize(&directory.join(path)));
            }
        }
        for path in fs::read_dir(directory.join(folder))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
        {
            let stem = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if path.extension().is_some_and(|extension| extension == "rs") {
                add(&stem, kind, path);
            } else {
                add(&stem, kind, path.join("main.rs"));
            }
        }
    }
    add(package, "bin", directory.join("src/main.rs"));
    add(
        "build-script-build",
        "custom-build",
        directory.join("build.rs"),
    );
    found.into_values().collect()
}

fn dependencies(
    directory: &Path,
    table: &Table,
    workspace: Option<&Table>,
) -> Vec<PackageDependency> {
    let per_target = table
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flatten();
    let tables = std::iter::once(table).chain(per_target.filter_map(|(_, value)| value.as_table()));
    let mut all = Vec::new();
    for table in tables {
        for (key, kind) in [
            ("dependencies", None),
            ("dev-dependencies", Some("dev")),
            ("build-dependencies", Some("build")),
        ] {
            for (name, value) in table
                .get(key)
                .and_then(Value::as_table)
                .into_iter()
                .flatten()
            {
                all.push(dependency(directory, name, value, kind, workspace));
            }
        }
    }
    all
}

fn dependency(
    directory: &Path,
    name: &str,
    value: &Value,
    kind: Option<&str>,
    workspace: Option<&Table>,
) -> PackageDependency {
    let inherits = value.get("workspace").and_then(Value::as_bool) == Some(true);
    let shared = workspace
        .and_then(|table| table.get("dependencies"))
        .and_then(|table| table.get(name));
    let source = if inherits {
        shared.unwrap_or(value)
    } else {
        value
    };
    let package = source.get("package").and_then(Value::as_str);
    let defaults = source
        .get("default-features")
        .and_then(Value::as_bool)
        .unwrap_or(true);
    let mut features = strings(source.get("features"));
    features.extend(strings(value.get("features")));
    PackageDependency {
        name: package.unwrap_or(name).to_owned(),
        rename: package.map(|_| name.to_owned()),
        kind: kind.map(str::to_owned),
        path: source
            .get("path")
            .and_then(Value::as_str)
            .filter(|_| !inherits)
            .map(|path| normalize(&directory.join(path))),
        features,
        uses_default_features: defaults,
    }
}

fn inherited(package: &Table, key: &str, workspace: Option<&Table>) -> Option<String> {
    match package.get(key)? {
        Value::String(text) => Some(text.clone()),
        _ => Some(workspace?.get("package")?.get(key)?.as_str()?.to_owned()),
    }
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let array = value.and_then(Value::as_array).into_iter().flatten();
    array.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn json(value: Option<&Value>) -> Option<serde_json::Value> {
    serde_json::to_value(value?).ok()
}
