//! Which packages, crates and files are checked.

use crate::project::{Outcome, Project};

fn workspace() -> Project {
    Project::new(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = ['crates/*']\nresolver = '3'\n",
        ),
        (
            "crates/store/Cargo.toml",
            "[package]\nname = 'store'\nversion = '0.1.0'\nedition = '2021'\n",
        ),
        ("crates/store/src/lib.rs", "pub fn save() {}\n"),
        (
            "crates/web/Cargo.toml",
            "[package]\nname = 'web'\nversion = '0.1.0'\nedition = '2024'\n\
             [features]\ntool = []\n[[bin]]\nname = 'tool'\nrequired-features = ['tool']\n\
             [dependencies]\nstore = { path = '../store' }\n",
        ),
        ("crates/web/src/lib.rs", "pub fn serve() {}\n"),
        ("crates/web/src/bin/tool.rs", "fn main() {}\n"),
        ("crates/web/examples/hello.rs", "fn main() {}\n"),
        ("crates/web/tests/it.rs", "fn main() {}\n"),
        ("crates/web/build.rs", "fn main() {}\n"),
    ])
}

/// The crates that `-v` says are checked.
fn checked(outcome: &Outcome) -> Vec<&str> {
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let lines = outcome
        .err
        .lines()
        .filter_map(|line| line.strip_prefix("note: checking "));
    lines.collect()
}

const STORE: &str = "store (lib, edition 2021)";
const WEB: &str = "web (lib, edition 2024)";
const HELLO: &str = "hello (example, edition 2024)";
const TOOL: &str = "tool (bin, edition 2024)";

#[test]
fn packages_are_chosen_as_cargo_chooses_them() {
    let project = workspace();
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("", &[], &[STORE, WEB, HELLO]),
        ("crates/store", &[], &[STORE]),
        ("crates/store/src", &[], &[STORE]),
        ("crates/store", &["--workspace"], &[STORE, WEB, HELLO]),
        ("", &["-p", "web"], &[WEB, HELLO]),
        ("", &["-p", "st*"], &[STORE]),
        ("", &["-p", "store@0.1.0"], &[STORE]),
        ("", &["--workspace", "--exclude", "web"], &[STORE]),
        (
            "",
            &["-p", "web", "--features", "tool"],
            &[WEB, TOOL, HELLO],
        ),
        (
            "",
            &["-p", "web", "--features", "web/tool"],
            &[WEB, TOOL, HELLO],
        ),
        ("", &["-p", "web", "--all-features"], &[WEB, TOOL, HELLO]),
        ("crates", &["--manifest-path", "store/Cargo.toml"], &[STORE]),
        ("", &["--manifest-path", "crates/store"], &[STORE]),
    ];
    for (folder, arguments, expected) in cases {
        let arguments: Vec<&str> = ["-v"].iter().chain(*arguments).copied().collect();
        let outcome = project.lint_in(folder, &arguments, "");
        let mut found = checked(&outcome);
        found.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "in `{folder}`: {arguments:?}");
    }
}

#[test]
fn tests_and_build_scripts_only_when_asked_for() {
    let project = workspace();
    let outcome = project.lint(&["-v", "-p", "web", "--tests"]);
    let found = checked(&outcome);
    assert!(found.contains(&"it (test, edition 2024)"), "{found:?}");
    assert!(
        found.contains(&"build_script_build (custom-build, edition 2024)"),
        "{found:?}"
    );
}

#[test]
fn loose_files_take_the_edition_of_their_package() {
    let project = workspace();
    let outcome = project.lint(&["-v", "crates/store/src/lib.rs", "crates/web/src/lib.rs"]);
    assert_eq!(
        checked(&outcome),
        ["lib (bin, edition 2021)", "lib (bin, edition 2024)"]
    );
    let outcome = project.lint(&["-v", "--edition", "2018", "crates/web/src/lib.rs"]);
    assert_eq!(checked(&outcome), ["lib (bin, edition 2018)"]);
}

#[test]
fn manifests_are_read_directly_when_cargo_refuses() {
    let project = workspace();
    // Cargo stops at the first manifest it cannot accept.
    project.write(
        "crates/store/Cargo.toml",
        "[package]\nname = 'store'\nversion = 'one'\nedition = '2021'\n",
    );
    let outcome = project.lint(&["-v"]);
    assert!(
        outcome.err.contains("its manifests were read instead"),
        "{outcome:?}"
    );
    let found = checked(&outcome);
    for expected in [STORE, WEB, HELLO] {
        assert!(found.contains(&expected), "{found:?}");
    }
}

#[test]
fn dependencies_are_looked_through_when_asked_for() {
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[package]\nname = 'shop'\nversion = '0.1.0'\nedition = '2024'\n\
             [dependencies]\nraw = { package = 'db-client', version = '1', features = ['tls'] }\nlost = '1'\n",
        ),
        ("src/lib.rs", "pub fn f() {}\n"),
        (
            "Cargo.lock",
            "version = 4\n\
             [[package]]\nname = 'shop'\nversion = '0.1.0'\ndependencies = ['db-client 1.2.0', 'lost']\n\
             [[package]]\nname = 'db-client'\nversion = '1.1.0'\nsource = 'registry+here'\n\
             [[package]]\nname = 'db-client'\nversion = '1.2.0'\nsource = 'registry+here'\ndependencies = ['wire']\n\
             [[package]]\nname = 'lost'\nversion = '1.0.0'\nsource = 'registry+here'\n\
             [[package]]\nname = 'wire'\nversion = '0.3.0'\nsource = 'registry+here'\n",
        ),
        (
            "home/registry/src/here/db-client-1.2.0/Cargo.toml",
            "[package]\nname = 'db-client'\nversion = '1.2.0'\nedition = '2021'\n[dependencies]\nwire = '0.3'\n[features]\ntls = []\n",
        ),
        (
            "home/registry/src/here/db-client-1.2.0/src/lib.rs",
            "pub fn query() {}\n",
        ),
        (
            "home/registry/src/here/wire-0.3.0/Cargo.toml",
            "[package]\nname = 'wire'\nversion = '0.3.0'\n",
        ),
        (
            "home/registry/src/here/wire-0.3.0/src/lib.rs",
            "pub fn send() {}\n",
        ),
    ]);
    let looked_through = |arguments: &[&str]| {
        let outcome = project.lint(arguments);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let lines = outcome
            .err
            .lines()
            .filter_map(|line| line.strip_prefix("note: looking through "));
        (
            lines.map(str::to_owned).collect::<Vec<String>>(),
            outcome.err.clone(),
        )
    };
    let (crates, _) = looked_through(&["-v"]);
    assert!(crates.is_empty(), "{crates:?}");
    let (crates, notes) = looked_through(&["-v", "--deps"]);
    assert_eq!(crates, ["db_client", "wire"]);
    assert!(
        notes.contains("1 dependency has no sources in the registry cache"),
        "{notes}"
    );
    std::fs::remove_file(project.path("Cargo.lock")).expect("removed");
    let (_, notes) = looked_through(&["-v", "--deps"]);
    assert!(notes.contains("there is no lock file"), "{notes}");
}
