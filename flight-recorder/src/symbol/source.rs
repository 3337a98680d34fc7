//! Names modules by their source files, where debug information names functions only by their last
//! part (`debug = "line-tables-only"` does so for all that is inlined).

use std::collections::HashMap;

/// Which crate the files below a folder belong to, as far as has been learned.
#[derive(Debug, Default)]
pub(super) struct Sources(HashMap<String, String>);

/// Folders of a package that hold crates of one file each.
const TARGETS: [&str; 3] = ["tests", "examples", "benches"];

impl Sources {
    /// Learns from a function whose full path is known where its crate's files are.
    pub(super) fn learn(&mut self, path: &str, file: &str) {
        let (Some((root, _)), Some((name, _))) = (root(file), path.split_once("::")) else {
            return;
        };
        // A path in brackets names the type first, whose crate may be another.
        if name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.0
                .entry(root.to_owned())
                .or_insert_with(|| name.to_owned());
        }
    }

    /// The module that `file` holds, as `crate::module`; empty where its path does not tell.
    pub(super) fn module(&self, file: &str) -> String {
        let Some((root, rest)) = root(file) else {
            return String::new();
        };
        let guess = || {
            let folder = root.strip_suffix("/src").unwrap_or(root);
            let folder = folder.rsplit('/').next().unwrap_or(folder);
            // The registry's folders end in the version.
            let version = folder
                .rfind('-')
                .filter(|at| folder[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
            folder[..version.unwrap_or(folder.len())].replace('-', "_")
        };
        let name = self.0.get(root).cloned().unwrap_or_else(guess);
        let stem = rest.strip_suffix(".rs").unwrap_or(rest);
        let inside = stem.strip_suffix("/mod").unwrap_or(stem);
        // A crate of one file is called as the file, and the file as the crate.
        if matches!(inside, "lib" | "main" | "mod") || inside == name {
            return name;
        }
        format!("{name}::{}", inside.replace('/', "::"))
    }
}

/// The folder of a crate's files, and the file within it.
fn root(file: &str) -> Option<(&str, &str)> {
    if let Some(at) = file.rfind("/src/") {
        return Some((&file[..at + 4], &file[at + 5..]));
    }
    let (folder, name) = file.rsplit_once('/')?;
    let last = folder.rsplit('/').next().unwrap_or(folder);
    if TARGETS.contains(&last) {
        // One crate a file.
        let stem = file.strip_suffix(".rs")?;
        return Some((stem, name));
    }
    // Where a package keeps its files elsewhere, the folder is the best name there is.
    file.ends_with(".rs").then_some((folder, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_s_module_is_its_path_below_the_crate() {
        let mut sources = Sources::default();
        let std = "/rustc/59807616/library/core/src/ops/function.rs";
        assert_eq!(sources.module(std), "core::ops::function");
        let registry = "/home/me/.cargo/registry/src/index/rayon-core-1.13.0/src/join/mod.rs";
        assert_eq!(sources.module(registry), "rayon_core::join");
        assert_eq!(sources.module("/shop/app/src/main.rs"), "app");
        assert_eq!(sources.module("/shop/app/tests/load.rs"), "load");
        assert_eq!(sources.module("/shop/app/tests/scene/mod.rs"), "scene");
        assert_eq!(
            sources.module("/shop/acceptance/ends.rs"),
            "acceptance::ends"
        );
        assert_eq!(sources.module("/shop/sqlite3.c"), "");
        sources.learn("<T as shop::B>::put", "/shop/app/src/db/pool.rs");
        sources.learn("shop::db::query", "/shop/app/src/db/mod.rs");
        assert_eq!(sources.module("/shop/app/src/db/pool.rs"), "shop::db::pool");
        assert_eq!(sources.module("/shop/app/src/lib.rs"), "shop");
    }
}
