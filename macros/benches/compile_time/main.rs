//! What `#[park_safe]` costs in compile time on a file of 10,000 lines.
//!
//! `cargo bench -p vt-macros --bench compile_time [-- [check|build] [usual|dense] [ROUNDS]]` writes such a file
//! three times, as it is, with the attribute on each item that names a lock, and with one attribute around all
//! of it, and lets `cargo check` and `cargo build` compile each afresh, in turns. Figures are the processor time of
//! cargo and the compiler, the least of the rounds: other work on the machine makes that longer, never shorter.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const LINES: usize = 10_000;
const SERVICE: &str = include_str!("service.rs");
/// Of the kernel's clock in `/proc`, in milliseconds.
const TICK: u64 = 10;

/// How often the file names a lock: each so many copies of the service have locks, the others cells.
const DENSITIES: [(&str, usize); 2] = [
    // 10 lines of a thousand: nine of ten published files of this size that use locks at all have fewer.
    ("usual", 3),
    // 30 lines of a thousand: what else has so many is the source of a lock.
    ("dense", 1),
];

fn main() {
    // Cargo passes `--bench`, and `--test` where it only wants to know that this runs.
    let args = std::env::args().skip(1).collect::<Vec<_>>();
    let rounds = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(7);
    let chosen = |all: [&str; 2], one: &str| {
        args.iter().any(|arg| arg == one) || !args.iter().any(|arg| all.contains(&arg.as_str()))
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_time");
    let library = prepare(&folder);
    for (density, every) in DENSITIES {
        if !chosen(["usual", "dense"], density) {
            continue;
        }
        let files = [Attribute::Nowhere, Attribute::OnItems, Attribute::Around]
            .map(|place| source(place, every));
        println!(
            "{density}: {} lines, {} items with locks, {} lines that name one; least processor time of {rounds} rounds",
            files[0].lines().count(),
            files[1].matches("park_safe").count(),
            lines_with_locks(&files[0])
        );
        for task in ["check", "build"] {
            if !chosen(["check", "build"], task) {
                continue;
            }
            let mut least = [u64::MAX; 3];
            for _ in 0..rounds {
                for (least, file) in least.iter_mut().zip(&files) {
                    fs::write(&library, file).expect("a source");
                    *least = (*least).min(compile(task, &folder));
                }
            }
            let ratio = |index: usize| (least[index] as f64 / least[0] as f64 - 1.0) * 100.0;
            println!(
                "cargo {task}: plain {} ms, attribute on items {} ms ({:+.1} %), around all {} ms ({:+.1} %)",
                least[0],
                least[1],
                ratio(1),
                least[2],
                ratio(2)
            );
        }
    }
}

/// Imports left out, as the attribute leaves them alone.
fn lines_with_locks(file: &str) -> usize {
    let names = |line: &&str| {
        !line.trim_start().starts_with("use ")
            && ["Mutex", "Condvar", "RwLock", "OnceLock"]
                .iter()
                .any(|lock| line.contains(lock))
    };
    file.lines().filter(names).count()
}

#[derive(Clone, Copy, PartialEq)]
enum Attribute {
    Nowhere,
    OnItems,
    Around,
}

/// The file: one service after the other, until it is long enough; one of `every` has locks.
fn source(place: Attribute, every: usize) -> String {
    let service = SERVICE
        .lines()
        .skip_while(|line| line.starts_with("//!"))
        .collect::<Vec<_>>();
    // Without the attribute too: whoever uses the runtime has its crates loaded.
    let mut text = String::from("#![allow(dead_code, unused_imports)]\nuse vt_runtime as _;\n");
    if place == Attribute::Around {
        text += "#[vt_runtime::park_safe(public)]\npub mod services {\n";
    }
    let mut lines = 0;
    for copy in 0_usize.. {
        if lines >= LINES {
            break;
        }
        let locks = copy.is_multiple_of(every);
        for line in &service {
            let (code, each) = line.split_once(" // EVERY ").unwrap_or((line, "1"));
            let each = each.parse::<usize>().expect("a number");
            if !(copy / every).is_multiple_of(each) || !locks && each != 1 {
                continue;
            }
            let item = [
                "    static NAMES",
                "    #[derive(Default)]",
                "    impl Orders",
            ]
            .iter()
            .any(|start| code.starts_with(start));
            if place == Attribute::OnItems && locks && item {
                text += "#[vt_runtime::park_safe(public)]\n";
            }
            let code = code.replace("NAME ", &format!("service_{copy} "));
            let code = if locks { code } else { without_locks(&code) };
            writeln!(text, "{code}").expect("a string takes any text");
            lines += 1;
        }
    }
    if place == Attribute::Around {
        text += "}\n";
    }
    text
}

/// The same line of a service that is used by one thread.
fn without_locks(code: &str) -> String {
    code.replace(
        "sync::{Arc, Condvar, Mutex, OnceLock, RwLock}",
        "{cell::RefCell, sync::Arc}",
    )
    .replace("Mutex", "RefCell")
    .replace(".lock().unwrap()", ".borrow_mut()")
}

/// Builds the runtime as a user's `cargo build` does, macros unoptimized, and says where the source is expected.
fn prepare(folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = format!(
        "[package]\nname = \"measured\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n\
         [dependencies]\nvt-runtime = {{ path = {:?} }}\n",
        root.join("runtime")
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    let library = folder.join("lib.rs");
    fs::write(&library, "").expect("a source");
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    for task in ["check", "build"] {
        cargo(&[task], folder);
    }
    library
}

/// Compiles the file afresh and says how long the threads of cargo and the compiler ran, in milliseconds.
fn compile(task: &str, folder: &Path) -> u64 {
    cargo(&["clean", "--package=measured"], folder);
    let before = children();
    cargo(&[task], folder);
    (children() - before) * TICK
}

fn cargo(args: &[&str], folder: &Path) {
    let ran = Command::new(env!("CARGO"))
        .args(args)
        .arg("--quiet")
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .stdout(Stdio::null())
        .status()
        .expect("cargo runs");
    assert!(ran.success(), "`cargo {}` failed", args.join(" "));
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
