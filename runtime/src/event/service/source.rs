//! The application's line in a stack: the first frame whose file is neither std's, nor a dependency's, nor ours.
//!
//! Naming an address loads the program's debug information, which takes tens of milliseconds the first time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use parking_lot::Mutex;

use crate::event::Place;

/// Parts of the paths of files that are not the application's: std's as the compiler's makers built it, dependencies
/// from a registry, and this crate's own.
const LIBRARIES: [&str; 4] = [
    "/rustc/",
    "/lib/rustlib/src/",
    "/registry/src/",
    concat!(env!("CARGO_MANIFEST_DIR"), "/src/"),
];

/// Addresses remembered at most; then all are forgotten.
const REMEMBERED: usize = 16 * 1024;

/// What addresses were found to be, since the same few lines pin again and again. Never held while one is named.
static KNOWN: LazyLock<Mutex<HashMap<usize, Option<Place>>>> = LazyLock::new(Mutex::default);

/// Where the application called what blocks, or `None` without debug information.
pub(crate) fn of_application(stack: &[u64]) -> Option<Place> {
    stack.iter().enumerate().find_map(|(index, &address)| {
        // A return address points behind its call, perhaps at the next line; the innermost one is no return address.
        let address = usize::try_from(address)
            .ok()?
            .checked_sub(usize::from(index > 0))?;
        if let Some(known) = KNOWN.lock().get(&address) {
            return known.clone();
        }
        let place = name(address);
        let mut known = KNOWN.lock();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(address, place.clone());
        place
    })
}

/// The innermost of the application's lines that an address stands for.
fn name(address: usize) -> Option<Place> {
    let mut found = None;
    backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| {
        let place = || {
            let file = symbol.filename().filter(|file| is_application(file))?;
            let file = relative(file).to_string_lossy().into();
            Some(Place {
                file,
                line: symbol.lineno()?,
                column: symbol.colno().unwrap_or(1),
            })
        };
        if found.is_none() {
            found = place();
        }
    });
    found
}

/// Told by the file: line tables alone name an inlined function without its path.
fn is_application(file: &Path) -> bool {
    // The C library may have debug information too.
    if file.extension().is_none_or(|extension| extension != "rs") {
        return false;
    }
    let file = file.to_string_lossy();
    !LIBRARIES.iter().any(|library| file.contains(library))
}

/// A file as the lint and `Location` name it: relative to the workspace, which is where the build folder lies.
fn relative(file: &Path) -> &Path {
    static ROOT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let root = ROOT.get_or_init(|| {
        let program = std::env::current_exe().ok()?;
        program
            .ancestors()
            .find(|folder| folder.ends_with("target"))?
            .parent()
            .map(Path::to_path_buf)
    });
    root.as_ref()
        .and_then(|root| file.strip_prefix(root).ok())
        .unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_not_the_application() {
        assert!(is_application(Path::new("/home/shop/src/db.rs")));
        let of_this_crate = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs");
        for file in [
            "/rustc/59807616/library/std/src/io.rs",
            "/x/registry/src/index/db-1.0.0/src/lib.rs",
            of_this_crate,
        ] {
            assert!(!is_application(Path::new(file)), "{file}");
        }
    }
}
