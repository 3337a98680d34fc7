//! Names what stands on a stack: the application's line in it, and its frames for people.
//!
//! The application's line is the first frame whose file is neither std's, nor a dependency's, nor ours.
//!
//! A stack that was walked by frame pointers ends at the first address that follows no call: foreign code in between may keep
//! anything in that register, and what it leads to are no frames.
//!
//! Naming an address loads the program's debug information, which takes tens of milliseconds the first time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use parking_lot::Mutex;

use crate::event::{Place, UNKNOWN};
use crate::watchdog::is_return;

/// Parts of the paths of files that are not the application's: std's as the compiler's makers built it, dependencies
/// from a registry, and the runtime's own.
const LIBRARIES: [&str; 6] = [
    "/rustc/",
    "/lib/rustlib/src/",
    "/registry/src/",
    "/git/checkouts/",
    OWN_SOURCES,
    concat!(env!("CARGO_MANIFEST_DIR"), "/traps/src/"),
];

const OWN_SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");

/// Addresses remembered at most; then all are forgotten.
const REMEMBERED: usize = 16 * 1024;

/// What addresses were found to be, since the same few lines pin again and again. Never held while one is named.
static KNOWN: LazyLock<Mutex<HashMap<usize, Known>>> = LazyLock::new(Mutex::default);

/// What is known of an address.
#[derive(Clone, Default)]
struct Known {
    /// A call may return to it.
    is_return: bool,
    /// The application's line there.
    place: Option<Place>,
}

/// The application's line on the `stack` of an event: the first place, from the innermost frame on, that is neither std's, nor
/// a dependency's, nor the runtime's. `None` without debug information.
///
/// Loads the program's debug information at the first call, which takes tens of milliseconds: not for a carrier. What was
/// found is remembered.
#[must_use]
pub fn application_line(stack: &[u64]) -> Option<Place> {
    of_application(stack)
}

/// [`application_line`].
pub(crate) fn of_application(stack: &[u64]) -> Option<Place> {
    for (index, &address) in stack.iter().enumerate() {
        let address = usize::try_from(address).ok()?;
        // A return address points behind its call, perhaps at the next line; the innermost one is no return address.
        let found = known(address.checked_sub(usize::from(index > 0))?);
        if index > 0 && !found.is_return {
            return None;
        }
        if found.place.is_some() {
            return found.place;
        }
    }
    None
}

fn known(address: usize) -> Known {
    if let Some(known) = KNOWN.lock().get(&address) {
        return known.clone();
    }
    let found = Known {
        is_return: is_return(address as u64 + 1),
        place: name(address),
    };
    let mut known = KNOWN.lock();
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(address, found.clone());
    found
}

/// Was the call at the end of `stack` made by the runtime for itself: does a frame of ours come before any of the
/// application's? For traps.
#[must_use]
pub fn is_of_runtime(stack: &[u64]) -> bool {
    let mut found = None;
    for &address in stack {
        let address = usize::try_from(address).unwrap_or(0);
        backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| {
            let Some(file) = symbol.filename() else {
                return;
            };
            let is_ours = file.starts_with(OWN_SOURCES);
            if found.is_none() && (is_ours || is_application(file)) {
                found = Some(is_ours);
            }
        });
        if let Some(is_ours) = found {
            return is_ours;
        }
    }
    false
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

/// A file as the lint and `Location` name it: relative to the workspace it was built from.
fn relative(file: &Path) -> &Path {
    workspace(file)
        .as_deref()
        .or_else(|| build_folder())
        .and_then(|root| file.strip_prefix(root).ok())
        .unwrap_or(file)
}

/// The workspace of a source file, by cargo's own rule: the nearest manifest with a workspace, else the nearest one.
/// `None` where the program runs without its sources.
fn workspace(file: &Path) -> Option<PathBuf> {
    let manifests: Vec<&Path> = file
        .ancestors()
        .skip(1)
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .collect();
    let has_workspace = |folder: &&&Path| {
        std::fs::read_to_string(folder.join("Cargo.toml"))
            .is_ok_and(|text| text.lines().any(|line| line.starts_with("[workspace")))
    };
    let root = manifests.iter().find(has_workspace).or(manifests.first());
    root.map(|root| root.to_path_buf())
}

/// The folder in which the program's build folder lies, if that has its usual name.
fn build_folder() -> Option<&'static Path> {
    static ROOT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let root = ROOT.get_or_init(|| {
        let program = std::env::current_exe().ok()?;
        program
            .ancestors()
            .find(|folder| folder.ends_with("target"))?
            .parent()
            .map(Path::to_path_buf)
    });
    root.as_deref()
}

/// One function on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// Its name, without the compiler's hash.
    pub function: String,
    /// The line it is at, relative to the workspace where that can be told.
    pub place: Option<Place>,
    /// Neither std's, nor a dependency's, nor the runtime's.
    pub is_application: bool,
}

/// The functions on the `stack` of an event, innermost first, inlined ones included; what lies within the application's
/// innermost frame (the runtime's own and std's) is left out.
///
/// Loads the program's debug information at the first call, which takes tens of milliseconds: not for a carrier.
#[must_use]
pub fn symbolize(stack: &[u64]) -> Vec<Frame> {
    let mut frames = Vec::new();
    for (index, &address) in stack.iter().enumerate() {
        if index > 0 && !is_return(address) {
            break;
        }
        let address = usize::try_from(address)
            .unwrap_or(0)
            .saturating_sub(usize::from(index > 0));
        backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| {
            let name = symbol.name().map(|name| format!("{name:#}"));
            let file = symbol.filename();
            frames.push(Frame {
                function: name.unwrap_or_else(|| UNKNOWN.to_owned()),
                is_application: file.is_some_and(is_application),
                place: file.zip(symbol.lineno()).map(|(file, line)| Place {
                    file: relative(file).to_string_lossy().into(),
                    line,
                    column: symbol.colno().unwrap_or(1),
                }),
            });
        });
    }
    let first = frames.iter().position(|frame| frame.is_application);
    frames.split_off(first.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_relative_to_its_workspace() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
        assert_eq!(relative(&here), Path::new("runtime/src/lib.rs"));
        let gone = Path::new("/no/such/place/src/lib.rs");
        assert_eq!(relative(gone), gone);
    }

    #[test]
    fn frames_begin_with_the_application_s() {
        let address = is_application as fn(&Path) -> bool as usize as u64;
        let frames = symbolize(&[address + 1]);
        // This crate's own files are the runtime's, so nothing is left out here.
        assert!(
            frames
                .iter()
                .any(|frame| frame.function.ends_with("is_application")),
            "{frames:?}"
        );
        assert!(
            frames.iter().all(|frame| !frame.is_application),
            "{frames:?}"
        );
    }

    #[test]
    fn a_stack_ends_at_what_follows_no_call() {
        static NOTHING: [u8; 16] = [0; 16];
        let function = is_application as fn(&Path) -> bool as usize as u64 + 1;
        let data = (&raw const NOTHING[8]).addr() as u64;
        if cfg!(target_arch = "x86_64") {
            assert_eq!(
                symbolize(&[function, data, function]),
                symbolize(&[function])
            );
        }
    }

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
