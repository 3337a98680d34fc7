//! What the lint repairs compiles against the runtime, and what it proves with virtual threads does too.
//!
//! `lint/tests/fixtures/repairs` holds programs that `--fix` must change (`fix_*`) and must leave alone (`keep_*`). All
//! of an edition are compiled as modules of one crate, before and after.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use vt_lint::workspace::{self, Request};
use vt_lint::{Edition, check};

fn fixtures(folder: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../lint/tests/fixtures")
        .join(folder);
    let entries = fs::read_dir(&folder).expect("the fixtures");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    sources
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into();
            (name, fs::read_to_string(&path).expect("a source"))
        })
        .collect()
}

fn edition(text: &str) -> &str {
    text.lines()
        .find_map(|line| line.strip_prefix("// edition: "))
        .expect("an edition")
}

/// A folder of this test's own, with the sources in it.
fn laid_out(name: &str, sources: &BTreeMap<String, String>) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in sources {
        fs::write(folder.join(format!("{name}.rs")), text).expect("a file");
    }
    folder
}

/// The newest build of a library beside this test; the others are of other features or versions.
fn libraries(name: &str) -> Vec<PathBuf> {
    let program = std::env::current_exe().expect("a path");
    let folder = program.parent().expect("a folder");
    let prefix = format!("lib{name}-");
    let mut found: Vec<(SystemTime, PathBuf)> = fs::read_dir(folder)
        .expect("the folder of dependencies")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.starts_with(&prefix) && file.ends_with(".rlib")
        })
        .map(|path| {
            let built = fs::metadata(&path).and_then(|metadata| metadata.modified());
            (built.expect("a time"), path)
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

/// Compiles all sources of a folder, those of an edition as modules of one crate.
fn compile(folder: &Path, sources: &BTreeMap<String, String>) -> Result<(), String> {
    for edition_of_crate in ["2021", "2024"] {
        let modules: String = sources
            .iter()
            .filter(|(_, text)| edition(text) == edition_of_crate)
            .map(|(name, _)| format!("pub mod {name};\n"))
            .collect();
        let root = folder.join(format!("root{edition_of_crate}.rs"));
        fs::write(&root, modules).expect("a file");
        let mut errors = String::new();
        let compiled = libraries("vt_runtime").iter().any(|runtime| {
            libraries("parking_lot").iter().any(|parking_lot| {
                let folder_of_libraries = runtime.parent().expect("a folder").display();
                let output = Command::new("rustc")
                    .args([
                        "--crate-type",
                        "lib",
                        "--emit",
                        "metadata",
                        "--cap-lints",
                        "allow",
                    ])
                    .args(["--edition", edition_of_crate])
                    .arg("--extern")
                    .arg(format!("vt_runtime={}", runtime.display()))
                    .arg("--extern")
                    .arg(format!("parking_lot={}", parking_lot.display()))
                    .arg("-L")
                    .arg(format!("dependency={folder_of_libraries}"))
                    .arg("--out-dir")
                    .arg(folder)
                    .arg(&root)
                    .output()
                    .expect("rustc starts");
                if errors.is_empty() {
                    errors = String::from_utf8_lossy(&output.stderr).into_owned();
                }
                output.status.success()
            })
        });
        if !compiled {
            return Err(errors);
        }
    }
    Ok(())
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(format!("{name}.rs"))).expect("a source")
}

fn lint(arguments: &[&str], folder: &Path, name: &str, edition: &str) {
    let file = folder.join(format!("{name}.rs"));
    let mut all = vec![
        "cargo-vt-lint".into(),
        "--no-cache".into(),
        "-qq".into(),
        "--edition".into(),
    ];
    all.push(edition.into());
    all.extend(arguments.iter().map(Into::into));
    all.push(file.into_os_string());
    // Its exit code is about what is left; what it did is seen in the file.
    let _ = vt_lint::cli::main(all);
}

/// How many findings could be repaired.
fn repairable(folder: &Path, name: &str, edition: &str) -> usize {
    let request = Request {
        files: vec![folder.join(format!("{name}.rs"))],
        edition: Edition::parse(edition),
        ..Request::default()
    };
    let loaded = workspace::load(&request).expect("the file");
    let report = check(&loaded.input(), &loaded.config);
    assert!(
        !report.findings.is_empty() || name.starts_with("fix"),
        "{name}: nothing is found"
    );
    report
        .findings
        .iter()
        .filter(|finding| finding.fix.is_some())
        .count()
}

#[test]
fn repaired_code_compiles_and_needs_no_second_repair() {
    let sources = fixtures("repairs");
    let folder = laid_out("repairs", &sources);
    if let Err(errors) = compile(&folder, &sources) {
        panic!("the programs do not compile as they are:\n{errors}");
    }
    for (name, text) in &sources {
        let edition = edition(text);
        let count = repairable(&folder, name, edition);
        assert_eq!(
            count > 0,
            name.starts_with("fix_"),
            "{name}: {count} repairs"
        );
        lint(
            &["--fix", "--dry-run", "--allow-no-vcs"],
            &folder,
            name,
            edition,
        );
        assert_eq!(
            &read(&folder, name),
            text,
            "{name}: a dry run changes nothing"
        );
        lint(
            &["--fix", "--allow-no-vcs", "--allow-dirty"],
            &folder,
            name,
            edition,
        );
        let once = read(&folder, name);
        assert_eq!(once != *text, count > 0, "{name}");
        assert_eq!(
            repairable(&folder, name, edition),
            0,
            "{name} is not repaired:\n{once}"
        );
        lint(
            &["--fix", "--allow-no-vcs", "--allow-dirty"],
            &folder,
            name,
            edition,
        );
        assert_eq!(
            read(&folder, name),
            once,
            "{name}: a second run changes nothing"
        );
    }
    if let Err(errors) = compile(&folder, &sources) {
        panic!("the repaired programs do not compile:\n{errors}");
    }
    let left: Vec<_> = fs::read_dir(&folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with("-new"))
        .collect();
    assert!(left.is_empty(), "{left:?} stayed behind");
}

#[test]
fn the_lint_s_programs_with_virtual_threads_compile() {
    let sources = fixtures("virtual-threads");
    let folder = laid_out("virtual-threads", &sources);
    if let Err(errors) = compile(&folder, &sources) {
        panic!("{errors}");
    }
}
