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
