//! Which files belong to a crate: `mod`, `#[path]`, inline modules, `include!`, macros, and what is missing or unreadable.

use crate::project::Project;

const BLOCKS: &str = "pub fn f(m: &std::sync::Mutex<u8>) {\n    let g = m.lock().unwrap();\n    crate::slow::nap();\n    drop(g);\n}\n";

fn found(project: &Project) -> Vec<String> {
    let outcome = project.lint(&["--message-format", "short"]);
    let lines = outcome.out.lines();
    let places = lines.filter_map(|line| {
        line.split(": ")
            .next()
            .filter(|place| place.contains(".rs:"))
    });
    places.map(str::to_owned).collect()
}

#[test]
fn all_ways_to_name_a_file_are_followed() {
    let project = Project::library(
        "mod plain;\n#[path = \"../elsewhere/odd.rs\"]\nmod odd;\nmod inline {\n    pub mod deep;\n}\ninclude!(\"part.rs\");\nmod slow {\n    pub fn nap() {\n        std::thread::sleep(d);\n    }\n}\n",
    );
    for file in ["src/plain/mod.rs", "elsewhere/odd.rs", "src/inline/deep.rs"] {
        project.write(file, BLOCKS);
    }
    // An included file sees the names around the macro.
    project.write("src/part.rs", "use std::sync::Mutex;\npub fn g(m: &Mutex<u8>) {\n    let g = m.lock().unwrap();\n    slow::nap();\n}\n");
    assert_eq!(
        found(&project),
        [
            "elsewhere/odd.rs:3:5",
            "src/inline/deep.rs:3:5",
            "src/part.rs:4:5",
            "src/plain/mod.rs:3:5",
        ]
    );
}

#[test]
fn a_name_that_a_build_script_may_set_keeps_its_code() {
    let project = Project::library(&format!(
        "#[cfg(set_by_build_script)]\nmod maybe {{\n{BLOCKS}}}\n#[cfg(any())]\nmod never {{\n{BLOCKS}}}\nmod slow {{\n    pub fn nap() {{ std::thread::sleep(d) }}\n}}\n"
    ));
    assert_eq!(found(&project), ["src/lib.rs:5:5"]);
}

#[test]
fn a_missing_module_is_one_finding_and_the_rest_is_analysed() {
    let project = Project::library(&format!(
        "mod gone;\n{BLOCKS}mod slow {{\n    pub fn nap() {{ std::thread::sleep(d) }}\n}}\n"
    ));
    assert_eq!(found(&project), ["src/lib.rs:1:1", "src/lib.rs:4:5"]);
}

#[cfg(unix)]
#[test]
fn unreadable_files_are_one_finding_each() {
    let project = Project::library(&format!(
        "mod bytes;\nmod circle;\nmod folder;\n{BLOCKS}mod slow {{\n    pub fn nap() {{ std::thread::sleep(d) }}\n}}\n"
    ));
    std::fs::write(project.path("src/bytes.rs"), b"\xff\xfe fn").expect("written");
    std::os::unix::fs::symlink("circle.rs", project.path("src/circle.rs")).expect("a link");
    std::os::unix::fs::symlink(".", project.path("src/again")).expect("a link");
    std::fs::create_dir(project.path("src/folder.rs")).expect("a folder");
    let found = found(&project);
    assert!(found.contains(&"src/lib.rs:6:5".to_owned()), "{found:?}");
    let broken = found.iter().filter(|place| !place.ends_with(":5"));
    assert_eq!(broken.count(), 3, "{found:?}");
}

#[test]
fn a_file_from_outside_is_reported_where_it_is_asked_for() {
    let outside = Project::new(&[("part.rs", BLOCKS), ("table.rs", BLOCKS)]);
    let [part, table] = ["part.rs", "table.rs"].map(|name| outside.path(name));
    let project = Project::library(&format!(
        "pub fn f() {{}}\ninclude!({part:?});\n#[path = {table:?}]\nmod table;\n"
    ));
    let outcome = project.lint(&["--message-format", "short"]);
    let [included, declared] = outcome.out.lines().collect::<Vec<_>>()[..] else {
        panic!("two findings: {outcome:?}");
    };
    for (line, place, file) in [
        (included, "src/lib.rs:2:", "part.rs"),
        (declared, "src/lib.rs:4:", "table.rs"),
    ] {
        assert!(line.starts_with(place), "{line}");
        assert!(
            line.contains(&format!("{file}` lies outside the workspace")),
            "{line}"
        );
    }
}

/// What others may not read: a file, and a folder of modules. For the superuser there is no such thing, so the
/// program runs as somebody else.
#[cfg(target_os = "linux")]
#[test]
fn what_one_may_not_read_is_one_finding_each() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let project = Project::library(&format!(
        "mod secret;\nmod vault;\n{BLOCKS}mod slow {{\n    pub fn nap() {{ std::thread::sleep(d) }}\n}}\n"
    ));
    project.write("src/secret.rs", BLOCKS);
    project.write("src/vault/mod.rs", BLOCKS);
    let allow = |path: &str, mode: u32| {
        set_permissions(project.path(path), Permissions::from_mode(mode)).expect("one's own")
    };
    allow("", 0o755);
    allow("src/secret.rs", 0o000);
    allow("src/vault", 0o000);
    let outcome = project.lint_as_nobody(&["--message-format", "short", "--no-cache"]);
    allow("src/vault", 0o755);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    for (place, what) in [
        ("src/lib.rs:2:1", "there is no file for the module `vault`"),
        ("src/lib.rs:5:5", "`nap` reaches"),
        ("src/secret.rs:1:1", "cannot be read"),
    ] {
        let found = |line: &str| line.starts_with(place) && line.contains(what);
        assert!(outcome.out.lines().any(found), "{place}: {outcome:?}");
    }
    assert_eq!(outcome.out.lines().count(), 3, "{outcome:?}");
}

/// Nothing is assumed about what a run sees of a folder that changes under it, but that it ends with a report.
#[test]
fn files_that_come_and_go_are_no_reason_to_fail() {
    use std::fs::{remove_file, write};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    let project = Project::library(
        "mod a;\nmod b;\nmod c;\nmod slow { pub fn nap() { std::thread::sleep(d) } }\n",
    );
    let paths = ["a", "b", "c"].map(|name| project.path(&format!("src/{name}.rs")));
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Should a run fail below, nobody says that it has ended.
            let last = Instant::now() + Duration::from_secs(60);
            while !ended.load(Ordering::Relaxed) && Instant::now() < last {
                for path in &paths {
                    write(path, BLOCKS).expect("a file comes");
                }
                for path in &paths {
                    remove_file(path).expect("a file goes");
                }
            }
        });
        for format in [
            "human", "short", "json", "sarif", "human", "github", "human", "sarif",
        ] {
            let outcome = project.lint(&["--message-format", format]);
            assert!(outcome.code <= 2, "{outcome:?}");
        }
        ended.store(true, Ordering::Relaxed);
    });
}
