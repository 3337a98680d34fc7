//! The same source in every edition, with the runtime renamed in the manifest, and no warning in any.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn expansions_are_the_same_in_every_edition() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("editions");
    let source = fs::read_to_string(root.join("tests/editions/fixture.rs")).expect("the fixture");
    let runtime = root.join("../runtime");

    for (edition, foreign) in [
        ("2018", "extern"),
        ("2021", "extern"),
        ("2024", "unsafe extern"),
    ] {
        let package = workspace.join(format!("edition-{edition}"));
        fs::create_dir_all(package.join("src")).expect("a folder");
        let manifest = format!(
            "[package]\nname = \"edition-{edition}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n\
             [dependencies]\nthreads = {{ package = \"vt-runtime\", path = {runtime:?} }}\n"
        );
        fs::write(package.join("Cargo.toml"), manifest).expect("a manifest");
        fs::write(
            package.join("src/lib.rs"),
            source.replace("EXTERN", foreign),
        )
        .expect("a source");
    }
    let members = "[workspace]\nresolver = \"2\"\nmembers = [\"edition-*\"]\n";
    fs::write(workspace.join("Cargo.toml"), members).expect("a manifest");
    // The versions of this workspace, so that nothing has to be fetched.
    fs::copy(root.join("../Cargo.lock"), workspace.join("Cargo.lock")).expect("a lock file");

    let checked = Command::new(env!("CARGO"))
        .args(["check", "--workspace", "--quiet"])
        .current_dir(&workspace)
        .env("CARGO_TARGET_DIR", workspace.join("target"))
        .output()
        .expect("cargo runs");
    let complaints = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{complaints}");
}
