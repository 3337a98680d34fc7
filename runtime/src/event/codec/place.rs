//! Which places in source are the application's: those that a report may blame.
//!
//! `#[track_caller]` names the nearest caller without it. Where that lies in the standard library
//! (`write!`, `read_line`, calls through `dyn Read`) or in this crate, the line says nothing to the user.

use crate::event::Place;

/// The folder of this crate's own source, as the compiler was given it.
const OWN: &str = {
    let (folder, _) = file!().split_at(file!().len() - "event/codec/place.rs".len());
    folder
};

/// Whether `place` lies outside std and outside this crate.
pub(super) fn is_application(place: &Place) -> bool {
    is_application_file(&place.file)
}

fn is_application_file(file: &str) -> bool {
    // Precompiled std has `/rustc/<hash>/library/`; with the rust-src component its path is
    // `<sysroot>/lib/rustlib/src/rust/library/`.
    let std = (file.starts_with("/rustc/") || file.contains("rustlib/src/rust/"))
        && file.contains("library/");
    !std && !file.starts_with(OWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn std_and_this_crate_are_not_the_application() {
        assert!(!is_application(&std::panic::Location::caller().into()));
        assert!(!is_application_file(&format!("{OWN}thread/mod.rs")));
        assert!(OWN.ends_with("src/"), "{OWN}");
        assert!(!is_application_file(
            "/rustc/0123abcd/library/std/src/io/mod.rs"
        ));
        assert!(!is_application_file(
            "/opt/rust/lib/rustlib/src/rust/library/core/src/ops/function.rs"
        ));
    }

    #[test]
    fn the_rest_is() {
        for file in [
            "src/main.rs",
            "tests/pinning.rs",
            "library/src/catalogue.rs",
            "/home/me/shop/src/lib.rs",
        ] {
            assert!(is_application_file(file), "{file}");
        }
    }
}
