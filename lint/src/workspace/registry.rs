//! `--deps`: adds the sources of dependencies that cargo has already unpacked.
//!
//! Reads the lock file and the user's registry cache, and never fetches anything. What is not there stays unknown, as
//! without `--deps`.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use super::manifest;
use super::metadata::{Metadata, Package};

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Locked>,
}

/// One package of the lock file.
#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    /// `name`, or `name version` where there are several.
    #[serde(default)]
    dependencies: Vec<String>,
}

/// Adds every library that the members reach and that lies in the registry cache, and says what is missing.
pub(crate) fn add(metadata: &mut Metadata) -> Option<String> {
    let path = metadata.workspace_root.join("Cargo.lock");
    let text = fs::read_to_string(&path).ok();
    let Some(lock) = text.and_then(|text| toml::from_str::<Lock>(&text).ok()) else {
        return Some(format!(
            "--deps has no effect: there is no lock file `{}`",
            path.display()
        ));
    };
    let folders = unpacked();
    // Where each locked package stands among `metadata.packages`; `None` for one without sources.
    let mut found: HashMap<usize, Option<usize>> = HashMap::new();
    let mut missing = 0;
    let mut next = 0;
    while next < metadata.packages.len() {
        let package = &metadata.packages[next];
        let owner = lock
            .package
            .iter()
            .find(|one| one.name == package.name && one.version == package.version);
        let mut resolved = Vec::new();
        for (position, dependency) in package.dependencies.iter().enumerate() {
            let locked = owner.and_then(|owner| lock.named(owner, &dependency.name));
            if let Some(locked) = locked
                && dependency.kind.is_none()
                && dependency.path.is_none()
                && !is_binding(&dependency.name)
            {
                resolved.push((position, locked));
            }
        }
        for (position, locked) in resolved {
            let added = metadata.packages.len();
            let index =
                *found
                    .entry(locked)
                    .or_insert_with(|| match lock.package[locked].read(&folders) {
                        Some(package) => {
                            metadata.packages.push(package);
                            Some(added)
                        }
                        None => {
                            missing += 1;
                            None
                        }
                    });
            metadata.packages[next].dependencies[position].resolved = index;
        }
        next += 1;
    }
    let what = if missing == 1 {
        "1 dependency has".to_owned()
    } else {
        format!("{missing} dependencies have")
    };
    (missing > 0).then(|| {
        format!(
            "{what} no sources in the registry cache (`cargo fetch` brings those of the registry)"
        )
    })
}

/// Packages whose functions are foreign: what matters of them is the name, and their sources would only hide it.
fn is_binding(package: &str) -> bool {
    package == "libc" || package.ends_with("-sys") || package.ends_with("_sys")
}

impl Lock {
    /// The package that `owner` means by `name`.
    fn named(&self, owner: &Locked, name: &str) -> Option<usize> {
        let written = owner
            .dependencies
            .iter()
            .find(|text| text.split(' ').next() == Some(name))?;
        let version = written.split(' ').nth(1);
        self.package.iter().position(|one| {
            one.name == name && version.is_none_or(|version| one.version == version)
        })
    }
}

impl Locked {
    /// The package's manifest and library from the cache. Procedural macros run in the compiler only.
    fn read(&self, folders: &[PathBuf]) -> Option<Package> {
        self.source
            .as_ref()
            .filter(|source| source.starts_with("registry+"))?;
        let name = format!("{}-{}", self.name, self.version);
        let manifest = folders
            .iter()
            .map(|folder| folder.join(&name).join("Cargo.toml"))
            .find(|path| path.is_file())?;
        let mut package = manifest::read_package(&manifest)?;
        package
            .targets
            .retain(|target| target.kind.iter().any(|kind| kind == "lib"));
        Some(package)
    }
}

/// The folders of the registries' unpacked packages.
fn unpacked() -> Vec<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let folders = home.and_then(|home| fs::read_dir(home.join("registry/src")).ok());
    let mut folders: Vec<PathBuf> = folders
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    folders
}
