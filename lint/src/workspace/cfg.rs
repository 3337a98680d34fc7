//! The `cfg` names of a target.
//!
//! The names the compiler knows are declared, so that a missing value means off; every other name may be set by a
//! build script or a flag and stays undecided.

use std::path::Path;
use std::process::{Command, Stdio};

use super::LoadError;
use super::metadata::neutral_directory;
use crate::input::CfgSet;

/// Names with a value that the compiler or cargo decides.
const KEYS: &[&str] = &[
    "target_abi",
    "target_arch",
    "target_endian",
    "target_env",
    "target_family",
    "target_has_atomic",
    "target_has_atomic_equal_alignment",
    "target_has_atomic_load_store",
    "target_os",
    "target_pointer_width",
    "target_thread_local",
    "target_vendor",
    "panic",
    "sanitize",
    "relocation_model",
];

/// Names that are off in an ordinary build on every target.
const OFF: &[&str] = &[
    "doc",
    "doctest",
    "miri",
    "clippy",
    "rustfmt",
    "rust_analyzer",
    "docsrs",
    "proc_macro",
];

/// The `cfg` of `triple`, or of the host.
///
/// # Errors
/// When `rustc` does not know the triple.
pub(crate) fn of_target(triple: Option<&str>, tests: bool) -> Result<CfgSet, LoadError> {
    let mut set = CfgSet::new();
    for name in
        KEYS.iter()
            .chain(OFF)
            .chain(&["unix", "windows", "debug_assertions", "overflow_checks"])
    {
        set.declare(name);
    }
    // With tests on, code for tests and code for everything else are both looked at.
    if !tests {
        set.declare("test");
    }
    set.set("debug_assertions", "");
    set.set("overflow_checks", "");
    match triple {
        None => host(&mut set),
        Some(triple) => ask_rustc(triple, &mut set)?,
    }
    Ok(set)
}

/// The host's names, known since this program was compiled for it. Target features stay undecided: flags add some.
fn host(set: &mut CfgSet) {
    use std::env::consts;
    set.set("target_os", consts::OS);
    set.set("target_arch", consts::ARCH);
    set.set("target_family", consts::FAMILY);
    set.set(consts::FAMILY, "");
    set.set(
        "target_endian",
        if cfg!(target_endian = "big") {
            "big"
        } else {
            "little"
        },
    );
    let width = usize::BITS.to_string();
    set.set("target_pointer_width", &width);
    for size in ["8", "16", "32", &width, "ptr"] {
        set.set("target_has_atomic", size);
    }
    set.set("target_has_atomic", "");
    set.set("panic", "unwind");
    let environments = [
        ("gnu", cfg!(target_env = "gnu")),
        ("musl", cfg!(target_env = "musl")),
        ("msvc", cfg!(target_env = "msvc")),
    ];
    for (name, holds) in environments {
        if holds {
            set.set("target_env", name);
        }
    }
    let vendors = [
        ("unknown", cfg!(target_vendor = "unknown")),
        ("apple", cfg!(target_vendor = "apple")),
        ("pc", cfg!(target_vendor = "pc")),
    ];
    for (name, holds) in vendors {
        if holds {
            set.set("target_vendor", name);
        }
    }
}

/// Another target's names, from the compiler itself, run where no file of the checked code applies.
fn ask_rustc(triple: &str, set: &mut CfgSet) -> Result<(), LoadError> {
    let unknown = |cause: String| LoadError::UnknownTarget {
        triple: triple.to_owned(),
        cause,
    };
    // A triple that is a path would make the compiler read a file, perhaps one of the checked repository.
    if triple.is_empty()
        || !triple
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    {
        return Err(unknown(
            "a target's name has letters, digits, `-`, `_` and `.` only".to_owned(),
        ));
    }
    let here = std::env::current_dir().unwrap_or_default();
    let output = Command::new("rustc")
        .args(["--print=cfg", "--target", triple])
        .current_dir(neutral_directory(Path::new(&here)))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| unknown(format!("`rustc` does not start: {error}")))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(unknown(
            words
                .lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned(),
        ));
    }
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        match line.split_once('=') {
            Some((name, value)) => set.set(name, value.trim_matches('"')),
            None => set.set(line, ""),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::CfgState;

    #[test]
    fn the_host_agrees_with_the_compiler_that_built_this() {
        let set = of_target(None, false).expect("the host is known");
        let on = |holds: bool| if holds { CfgState::On } else { CfgState::Off };
        assert_eq!(set.state("unix", None), on(cfg!(unix)));
        assert_eq!(set.state("windows", None), on(cfg!(windows)));
        assert_eq!(
            set.state("target_os", Some("linux")),
            on(cfg!(target_os = "linux"))
        );
        assert_eq!(
            set.state("target_env", Some("gnu")),
            on(cfg!(target_env = "gnu"))
        );
        assert_eq!(
            set.state("target_has_atomic", Some("64")),
            on(cfg!(target_has_atomic = "64"))
        );
        assert_eq!(set.state("test", None), CfgState::Off);
        assert_eq!(set.state("loom", None), CfgState::Maybe);
        assert_eq!(
            of_target(None, true).expect("known").state("test", None),
            CfgState::Maybe
        );
    }

    #[test]
    fn a_target_that_is_a_path_is_refused() {
        let error = of_target(Some("../evil.json"), false).expect_err("refused");
        assert!(error.to_string().contains("letters, digits"));
    }
}
