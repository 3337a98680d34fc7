//! One manifest: the package's targets by cargo's conventions, its dependencies and features.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::read;
use crate::workspace::disk::normalize;
use crate::workspace::metadata::{Package, PackageDependency, Target};

/// The package of a manifest; `None` for one that has only a workspace. A manifest that cannot be read gives what
/// lies in `src`.
pub(crate) fn package(manifest: &Path, workspace: Option<&Table>) -> Option<Package> {
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
    Some(Package {
        id: format!("path+file://{}#{name}@{version}", directory.display()),
        targets: targets(directory, &table, &name, &edition),
        dependencies: dependencies(directory, &table, workspace),
        features: features(&table),
        metadata: json(package.get("metadata")).unwrap_or_default(),
        manifest_path: manifest.to_owned(),
        name,
        version,
    })
}

/// The declared features, and those that optional dependencies imply.
fn features(table: &Table) -> BTreeMap<String, Vec<String>> {
    let declared = table
        .get("features")
        .and_then(Value::as_table)
        .into_iter()
        .flatten();
    let mut features: BTreeMap<String, Vec<String>> = declared
        .map(|(name, value)| (name.clone(), strings(Some(value))))
        .collect();
    let optional = table
        .get("dependencies")
        .and_then(Value::as_table)
        .into_iter()
        .flatten();
    for (name, value) in optional {
        let is_optional = value.get("optional").and_then(Value::as_bool) == Some(true);
        let explicit = format!("dep:{name}");
        if is_optional && !features.values().flatten().any(|entry| *entry == explicit) {
            features.entry(name.clone()).or_default();
        }
    }
    features
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
        resolved: None,
    }
}

/// A key of `[package]`, taken from the workspace where it says so.
pub(crate) fn inherited(package: &Table, key: &str, workspace: Option<&Table>) -> Option<String> {
    match package.get(key)? {
        Value::String(text) => Some(text.clone()),
        _ => Some(workspace?.get("package")?.get(key)?.as_str()?.to_owned()),
    }
}

/// An array's texts.
pub(crate) fn strings(value: Option<&Value>) -> Vec<String> {
    let array = value.and_then(Value::as_array).into_iter().flatten();
    array.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A value in the form that cargo prints.
pub(crate) fn json(value: Option<&Value>) -> Option<serde_json::Value> {
    serde_json::to_value(value?).ok()
}
