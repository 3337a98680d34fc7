//! A repository whose every hook leaves a mark: checking it must leave none, change nothing and end.

use std::fs;

use crate::project::Project;

/// A project that tries to run code in every way a checkout can.
#[cfg(unix)]
fn hostile() -> Project {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[package]\nname = 'trap'\nversion = '0.1.0'\nedition = '2024'\nbuild = 'build.rs'\n\
             [dependencies]\ntrap-macros = { path = 'macros' }\n[workspace]\nmembers = ['macros']\n",
        ),
        (
            "build.rs",
            "fn main() { std::fs::write(\"mark-build-script\", \"\").unwrap(); }\n",
        ),
        (
            "macros/Cargo.toml",
            "[package]\nname = 'trap-macros'\nversion = '0.1.0'\n[lib]\nproc-macro = true\n",
        ),
        (
            "macros/src/lib.rs",
            "#[proc_macro]\npub fn expand(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    \
             std::fs::write(\"mark-proc-macro\", \"\").unwrap();\n    \
             std::fs::write(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/mark-proc-macro\"), \"\").unwrap();\n    \
             proc_macro::TokenStream::new()\n}\n",
        ),
        (
            "src/lib.rs",
            "mod outside;\nmod pipe;\nmod turning;\n#[path = \"../../../../../../etc/passwd\"]\nmod passwd;\n\
             include!(\"/dev/zero\");\ntrap_macros::expand!();\npub fn f() {}\n",
        ),
    ]);
    let script = |path: &str| {
        let mark = project.path(&format!("mark-{}", path.replace('/', "-")));
        project.write(
            path,
            &format!("#!/bin/sh\ntouch '{}'\nexec \"$@\"\n", mark.display()),
        );
        fs::set_permissions(project.path(path), fs::Permissions::from_mode(0o755))
            .expect("executable");
        project.path(path).display().to_string()
    };
    let toolchain = project.path("toolchain").display().to_string();
    project.write(
        "rust-toolchain.toml",
        &format!("[toolchain]\npath = '{toolchain}'\n"),
    );
    script("toolchain/bin/cargo");
    script("toolchain/bin/rustc");
    let tool = script("hook");
    let config = format!(
        "[build]\nrustc = '{tool}'\nrustc-wrapper = '{tool}'\nrustc-workspace-wrapper = '{tool}'\nrustdoc = '{tool}'\n\
         [registry]\nglobal-credential-providers = ['{tool}']\n[alias]\nmetadata = ['run']\nvt-lint = ['run']\n\
         [target.'cfg(all())']\nrunner = '{tool}'\nlinker = '{tool}'\n[http]\nproxy = 'http://127.0.0.1:1'\n"
    );
    project.write(".cargo/config.toml", &config);
    symlink("turning.rs", project.path("src/turning.rs")).expect("a link to itself");
    symlink("/etc/hostname", project.path("src/outside.rs")).expect("a link out of the workspace");
    let made = std::process::Command::new("mkfifo")
        .arg(project.path("src/pipe.rs"))
        .status();
    assert!(made.expect("mkfifo starts").success());
    if project.git(&["init", "-q"]) {
        project.write(".gitattributes", "* filter=trap diff=trap\n");
        project.git(&["add", "-A", ":!src/pipe.rs"]);
        project.git(&["commit", "-qm", "trap"]);
        for key in [
            "core.fsmonitor",
            "filter.trap.clean",
            "filter.trap.smudge",
            "diff.trap.textconv",
            "diff.external",
            "core.pager",
        ] {
            project.git(&["config", key, &tool]);
        }
        project.write(
            ".git/hooks/post-index-change",
            &fs::read_to_string(&tool).expect("the script"),
        );
        fs::set_permissions(
            project.path(".git/hooks/post-index-change"),
            fs::Permissions::from_mode(0o755),
        )
        .expect("executable");
    }
    project
}

#[cfg(unix)]
#[test]
fn nothing_of_the_checked_code_runs_and_nothing_is_written() {
    let project = hostile();
    let before = project.contents();
    let runs: &[&[&str]] = &[
        &[],
        &["--workspace", "--all-features"],
        &["--tests"],
        &["--since", "HEAD"],
        &["src/lib.rs"],
        &["--message-format", "json"],
        &["--message-format", "sarif"],
        &["--target", "x86_64-unknown-linux-gnu"],
        &["--target", "./hook"],
        &["--show-files", "--statistics"],
        &["--deps"],
        &["--fix", "--dry-run"],
        &["--baseline", "hook"],
        &["--no-cache", "--jobs", "1"],
    ];
    for arguments in runs {
        let outcome = project.lint(arguments);
        assert_ne!(outcome.code, 101, "{arguments:?}: {outcome:?}");
        let after = project.contents();
        let changed: Vec<_> = after
            .iter()
            .filter(|(path, text)| before.get(*path) != Some(*text))
            .map(|(path, _)| path)
            .collect();
        assert!(changed.is_empty(), "{arguments:?} left {changed:?}");
        assert_eq!(before.len(), after.len(), "{arguments:?} removed files");
        assert!(
            !outcome.out.contains("root:"),
            "{arguments:?} shows a file from outside: {outcome:?}"
        );
    }
}

/// Marks that hooks left.
#[cfg(unix)]
fn marks(project: &Project) -> Vec<String> {
    let files = project.contents().into_keys();
    let names = files.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    names.filter(|name| name.starts_with("mark-")).collect()
}

/// The test above means something only if the traps spring for others.
#[cfg(unix)]
#[test]
fn cargo_itself_springs_the_traps() {
    let project = hostile();
    assert_eq!(marks(&project), Vec::<String>::new());
    project.cargo(&["check", "--offline"]);
    let hijacked = marks(&project);
    assert!(
        !hijacked.is_empty(),
        "neither the toolchain file nor the configuration acted"
    );

    for path in [".cargo/config.toml", "rust-toolchain.toml", "src/pipe.rs"] {
        fs::remove_file(project.path(path)).expect("removed");
    }
    project.write("src/lib.rs", "trap_macros::expand!();\n");
    project.cargo(&["check", "--offline"]);
    let built = marks(&project);
    for mark in ["mark-build-script", "mark-proc-macro"] {
        assert!(built.iter().any(|one| one == mark), "{built:?}");
    }
}

#[test]
fn a_pinned_toolchain_that_is_not_installed_and_a_missing_lock_file_do_not_matter() {
    let project = Project::library("pub fn f() {}\n");
    project.write("rust-toolchain.toml", "[toolchain]\nchannel = '1.0.99'\n");
    project.write(
        "Cargo.toml",
        "[package]\nname = 'shop'\nversion = '0.1.0'\nedition = '2024'\n[dependencies]\nno-such-crate-anywhere = '9'\n",
    );
    let outcome = project.lint(&["-v"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(
        !outcome.err.contains("its manifests were read instead"),
        "{outcome:?}"
    );
    assert!(!project.path("Cargo.lock").exists());
}
