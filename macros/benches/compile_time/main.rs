//! What `#[park_safe]` costs in compile time on a file of 10,000 lines.
//!
//! `cargo bench -p vt-macros --bench compile_time [-- ROUNDS]` writes such a file three times, as it is, with the
//! attribute on each item that names a lock, and with one attribute around all of it, and lets the compiler
//! check and build them in turns. Figures are the compiler's processor time, the least of the rounds: other
//! work on the machine makes that longer, never shorter.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LINES: usize = 10_000;
const SERVICE: &str = include_str!("service.rs");
/// Of the kernel's clock in `/proc`, in milliseconds.
const TICK: u64 = 10;

fn main() {
    // Cargo passes `--bench`, and `--test` where it only wants to know that this runs.
    let rounds = std::env::args()
        .skip(1)
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(7);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_time");
    let runtime = prepare(&folder);
    let files = [
        ("plain", Attribute::Nowhere),
        ("items", Attribute::OnItems),
        ("whole", Attribute::Around),
    ]
    .map(|(name, place)| {
        let path = folder.join(format!("{name}.rs"));
        fs::write(&path, source(place)).expect("a source");
        (name, path)
    });
    let plain = fs::read_to_string(&files[0].1).expect("the source");
    let locks = fs::read_to_string(&files[1].1)
        .expect("the source")
        .matches("park_safe")
        .count();
    println!(
        "{} lines, {locks} items with locks, least processor time of {rounds} rounds\n",
        plain.lines().count()
    );

    for (task, flags) in [
        ("check", &["--emit=metadata"][..]),
        ("build", &["--emit=metadata,link", "-Cdebuginfo=2"]),
    ] {
        let mut least = [u64::MAX; 3];
        for _ in 0..rounds {
            for (least, (_, path)) in least.iter_mut().zip(&files) {
                *least = (*least).min(compile(path, flags, &folder, &runtime));
            }
        }
        let ratio = |index: usize| (least[index] as f64 / least[0] as f64 - 1.0) * 100.0;
        println!(
            "{task}: plain {} ms, attribute on items {} ms ({:+.1} %), around all {} ms ({:+.1} %)",
            least[0],
            least[1],
            ratio(1),
            least[2],
            ratio(2)
        );
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Attribute {
    Nowhere,
    OnItems,
    Around,
}

/// The file: one service after the other, until it is long enough.
fn source(place: Attribute) -> String {
    let service = SERVICE
        .lines()
        .skip_while(|line| line.starts_with("//!"))
        .collect::<Vec<_>>();
    // Without the attribute too: whoever uses the runtime has its crates loaded.
    let mut text = String::from("#![allow(dead_code)]\nuse vt_runtime as _;\n");
    if place == Attribute::Around {
        text += "#[vt_runtime::park_safe(public)]\npub mod services {\n";
    }
    let mut lines = 0;
    for copy in 0.. {
        if lines >= LINES {
            break;
        }
        for line in &service {
            let (code, every) = line.split_once(" // EVERY ").unwrap_or((line, "1"));
            if copy % every.parse::<usize>().expect("a number") != 0 {
                continue;
            }
            let item = [
                "    static NAMES",
                "    #[derive(Default)]",
                "    impl Orders",
            ]
            .iter()
            .any(|start| code.starts_with(start));
            if place == Attribute::OnItems && item {
                text += "#[vt_runtime::park_safe(public)]\n";
            }
            writeln!(
                text,
                "{}",
                code.replace("NAME ", &format!("service_{copy} "))
            )
            .expect("a string takes any text");
            lines += 1;
        }
    }
    if place == Attribute::Around {
        text += "}\n";
    }
    text
}

/// Builds the runtime as a user's `cargo build` does, macros unoptimized, and says where its library is.
fn prepare(folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = format!(
        "[package]\nname = \"measured\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n\
         [dependencies]\nvt-runtime = {{ path = {:?} }}\n",
        root.join("runtime")
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    fs::write(folder.join("lib.rs"), "").expect("a source");
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--message-format=json"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .stderr(std::process::Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "the runtime does not build");
    let messages = String::from_utf8(built.stdout).expect("JSON");
    let library = messages
        .split('"')
        .find(|text| text.contains("libvt_runtime-") && text.ends_with(".rlib"));
    library.expect("cargo tells where the library is").into()
}

/// Compiles a file and says how long the compiler's threads ran, in milliseconds.
fn compile(path: &Path, flags: &[&str], folder: &Path, runtime: &Path) -> u64 {
    let before = children();
    let status = Command::new("rustc")
        .args(["--crate-type=lib", "--edition=2024", "--cap-lints=allow"])
        .args(flags)
        .arg(format!("--extern=vt_runtime={}", runtime.display()))
        .arg(format!(
            "-Ldependency={}",
            folder.join("target/debug/deps").display()
        ))
        .arg(format!("--out-dir={}", folder.display()))
        .arg(path)
        .status()
        .expect("rustc runs");
    assert!(status.success(), "{} does not compile", path.display());
    (children() - before) * TICK
}

/// The processor time of all children so far, in ticks.
fn children() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux tells processor times here");
    // After the name, which may hold anything, in parentheses: state is field 3, children's times are 16 and 17.
    let fields = stat
        .rsplit_once(')')
        .expect("a name")
        .1
        .split_whitespace()
        .collect::<Vec<_>>();
    [13, 14]
        .iter()
        .map(|index| fields[*index].parse::<u64>().expect("a time"))
        .sum()
}
