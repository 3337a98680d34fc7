//! What an analysis works on: crates, their files, and the `cfg` names that hold.
//!
//! Owns the plain data that [`check`](crate::check) reads and the [`Sources`] door through which it gets
//! file contents. **Invariant:** nothing behind `check` opens a file, starts a process or reads the environment;
//! whoever builds an [`Input`] decides what is visible (see `workspace.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything one run looks at.
pub struct Input<'a> {
    /// The crates (cargo calls them targets) to analyse. Findings name one by its index here.
    pub crates: Vec<CrateInput>,
    /// The only way to file contents.
    pub sources: &'a dyn Sources,
    /// Which `cfg` names hold, apart from features.
    pub cfg: CfgSet,
}

/// One crate: a root file and what the manifest says about it.
#[derive(Clone, Debug)]
pub struct CrateInput {
    /// The crate's name as code spells it (`my_crate`).
    pub name: String,
    /// Cargo's package id, or `None` for a loose file.
    pub package: Option<String>,
    /// The package's name as the manifest spells it (`my-crate`); the crate's name for a loose file.
    pub package_name: String,
    /// The manifest, or `None` for a loose file.
    pub manifest: Option<PathBuf>,
    /// What cargo builds from it.
    pub target_kind: TargetKind,
    /// The root file.
    pub root: PathBuf,
    /// The edition, which decides how long temporaries live.
    pub edition: Edition,
    /// The features that are on.
    pub features: BTreeSet<String>,
    /// All features the manifest declares. One that is neither on nor declared is off in a package; in a
    /// loose file, which has no manifest, any feature may be on.
    pub declared_features: BTreeSet<String>,
    /// The crates its code can name, in the order of [`Dependency::code_name`].
    pub dependencies: Vec<Dependency>,
    /// Whether findings in it are wanted. A crate that was not selected, or a dependency, is only looked
    /// through for what blocks.
    pub reported: bool,
}

/// A crate that another crate's code can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The name in code, renames applied.
    pub code_name: String,
    /// The package's own name (`libsqlite3-sys`), whatever code calls it.
    pub package_name: String,
    /// The index in [`Input::crates`], when its sources are part of this run.
    pub local: Option<usize>,
}

/// The kind of a cargo target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TargetKind {
    /// A library.
    Lib,
    /// A procedural macro: a library whose code runs in the compiler.
    ProcMacro,
    /// A program.
    Bin,
    /// An example.
    Example,
    /// An integration test.
    Test,
    /// A benchmark.
    Bench,
    /// A build script.
    Build,
    /// A file given by name, outside any package.
    File,
}

impl TargetKind {
    /// Cargo's word for it, as in the `target.kind` of its JSON messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lib => "lib",
            Self::ProcMacro => "proc-macro",
            Self::Bin | Self::File => "bin",
            Self::Example => "example",
            Self::Test => "test",
            Self::Bench => "bench",
            Self::Build => "custom-build",
        }
    }
}

/// A Rust edition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edition {
    /// Edition 2015.
    E2015,
    /// Edition 2018.
    E2018,
    /// Edition 2021.
    E2021,
    /// Edition 2024.
    E2024,
}

impl Edition {
    /// Reads `2015`, `2018`, `2021` or `2024`.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::E2015, Self::E2018, Self::E2021, Self::E2024]
            .into_iter()
            .find(|edition| edition.name() == text)
    }

    /// The year, as manifests spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::E2015 => "2015",
            Self::E2018 => "2018",
            Self::E2021 => "2021",
            Self::E2024 => "2024",
        }
    }
}

/// The door to file contents. The analysis asks for a file by path and never looks at the disk itself.
pub trait Sources: Sync {
    /// The text of a file.
    ///
    /// # Errors
    /// When the file cannot be read, is not UTF-8, or lies outside what this run may see.
    fn read(&self, path: &Path) -> Result<Arc<str>, SourceError>;

    /// Whether there is such a file: how `mod name;` chooses between `name.rs` and `name/mod.rs`.
    fn exists(&self, path: &Path) -> bool;

    /// The path as findings show it: relative to the workspace root, with `/` between its parts.
    fn display(&self, path: &Path) -> String;

    /// Where the work on single files is kept from run to run, if anywhere.
    fn memory(&self) -> Option<&dyn Memory> {
        None
    }
}

/// What earlier runs worked out about files. It may forget anything at any time; what it gives is what was kept.
pub trait Memory: Sync {
    /// What was kept under this key.
    fn recall(&self, key: [u64; 2]) -> Option<Vec<u8>>;

    /// Whether [`keep`](Self::keep) keeps anything in this run.
    fn keeps(&self) -> bool;

    /// Keeps something for later runs.
    fn keep(&self, key: [u64; 2], bytes: &[u8]);
}

/// Why a source file has no text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceError {
    /// The system refused; its own words.
    Unreadable(String),
    /// The bytes at this offset are not UTF-8.
    NotUtf8 {
        /// Offset of the first bad byte.
        valid_up_to: usize,
    },
    /// The file lies outside the directories this run may read.
    OutsideWorkspace,
    /// The file is larger than the analysis takes.
    TooLarge {
        /// The file's size in bytes.
        bytes: u64,
    },
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(cause) => write!(f, "cannot be read: {cause}"),
            Self::NotUtf8 { valid_up_to } => write!(f, "is not UTF-8 from byte {valid_up_to} on"),
            Self::OutsideWorkspace => f.write_str("lies outside the workspace"),
            Self::TooLarge { bytes } => write!(f, "is too large to analyse ({bytes} bytes)"),
        }
    }
}

impl Error for SourceError {}

/// Whether a `cfg` predicate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CfgState {
    /// It holds.
    On,
    /// It does not.
    Off,
    /// Nobody declared it, so a build script or a flag may set it. The code is kept.
    Maybe,
}

/// The `cfg` names of a target, without features, which belong to each crate.
#[derive(Clone, Debug, Default)]
pub struct CfgSet {
    /// Names that are known, with the values that hold; a name alone (`unix`) has the empty value.
    values: BTreeMap<String, BTreeSet<String>>,
}

impl CfgSet {
    /// A set in which every name is [`CfgState::Maybe`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes `name` known, and off for every value that is not set.
    pub fn declare(&mut self, name: &str) {
        self.values.entry(name.to_owned()).or_default();
    }

    /// Sets `name = "value"`, or `name` alone when `value` is empty.
    pub fn set(&mut self, name: &str, value: &str) {
        self.values
            .entry(name.to_owned())
            .or_default()
            .insert(value.to_owned());
    }

    /// Whether `name = "value"` holds, or `name` alone for `None`.
    pub fn state(&self, name: &str, value: Option<&str>) -> CfgState {
        match self.values.get(name) {
            None => CfgState::Maybe,
            Some(values) if values.contains(value.unwrap_or_default()) => CfgState::On,
            Some(_) => CfgState::Off,
        }
    }

    /// All pairs that hold, in order: part of what a cached answer depends on.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().flat_map(|(name, values)| {
            values
                .iter()
                .map(move |value| (name.as_str(), value.as_str()))
        })
    }
}
