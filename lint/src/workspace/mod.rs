//! From a command line to an [`Input`]: which crates, which files, which `cfg`.
//!
//! The only module that reads the checked code from the disk or starts a process because of it.
//! **Invariant:** of cargo only `metadata --no-deps` is run, from the file system's root. That reads manifests and
//! nothing else: no build script, no `build.rustc`, no alias, no toolchain file and no configuration of the
//! checked repository can act, and no lock file is written.

mod cfg;
mod disk;
mod features;
mod loose;
mod manifest;
mod metadata;
mod packages;
mod registry;
mod select;
mod settings;

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use crate::config::{Config, ConfigError};
use crate::input::{CfgSet, CrateInput, Edition, Input};

pub use disk::Disk;

/// What the user asked to have checked.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Loose files, each a crate of its own; packages when empty and there is no `stdin`.
    pub files: Vec<PathBuf>,
    /// Source text that does not come from the disk, and the name it goes by.
    pub stdin: Option<(PathBuf, String)>,
    /// The edition of loose files; that of the nearest manifest when `None`.
    pub edition: Option<Edition>,
    /// The manifest to start from; searched upwards from the current directory when `None`.
    pub manifest_path: Option<PathBuf>,
    /// Packages by name, pattern or id.
    pub packages: Vec<String>,
    /// Whether to check all packages of the workspace.
    pub workspace: bool,
    /// Packages to leave out, as in `packages`.
    pub exclude: Vec<String>,
    /// Features to switch on, `package/feature` included.
    pub features: Vec<String>,
    /// Whether to switch on all features.
    pub all_features: bool,
    /// Whether to leave the default features off.
    pub no_default_features: bool,
    /// The target triple whose `cfg` holds; the host's when `None`.
    pub target: Option<String>,
    /// Whether the sources of dependencies are looked through.
    pub deps: bool,
    /// Whether tests, benchmarks and build scripts are analysed whatever the configuration says.
    pub tests: bool,
    /// A configuration file that replaces those that would be found.
    pub config: Option<PathBuf>,
}

/// A request with everything found that it needs.
pub struct Loaded {
    /// The crates, selected ones and those only looked through.
    pub crates: Vec<CrateInput>,
    /// Their files.
    pub disk: Disk,
    /// The `cfg` names that hold.
    pub cfg: CfgSet,
    /// The settings that apply.
    pub config: Config,
    /// Where the settings come from, for people.
    pub config_origin: String,
    /// The directory that display paths are relative to.
    pub root: PathBuf,
    /// What the user should know about how this was found (`cargo could not ..`).
    pub notices: Vec<String>,
}

impl Loaded {
    /// The input of [`check`](crate::check).
    pub fn input(&self) -> Input<'_> {
        Input {
            crates: self.crates.clone(),
            sources: &self.disk,
            cfg: self.cfg.clone(),
        }
    }
}

/// Finds what the request names.
///
/// # Errors
/// When there is nothing to analyse, or the request or the configuration is wrong. A file that turns out to be
/// broken is no error: it becomes a finding.
pub fn load(request: &Request) -> Result<Loaded, LoadError> {
    if request.files.is_empty() && request.stdin.is_none() {
        packages::load(request)
    } else {
        loose::load(request)
    }
}

/// Why nothing can be analysed.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// No `Cargo.toml` in this directory or above it.
    NoManifest(PathBuf),
    /// The manifest given by name is not there.
    MissingManifest(PathBuf),
    /// The files given by name are not there.
    MissingFiles(Vec<PathBuf>),
    /// Directories given where files are wanted.
    Directories(Vec<PathBuf>),
    /// No package goes by this name; the names there are.
    UnknownPackage {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No selected package declares the feature.
    UnknownFeature(String),
    /// The packages have no target to check.
    NoTargets(PathBuf),
    /// The target triple means nothing to `rustc`; its words.
    UnknownTarget {
        /// The triple.
        triple: String,
        /// What `rustc` said.
        cause: String,
    },
    /// The configuration cannot be used.
    Config(ConfigError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoManifest(from) => write!(
                f,
                "there is no `Cargo.toml` in `{}` or above it; name files to check, or use --manifest-path",
                from.display()
            ),
            Self::MissingManifest(path) => write!(f, "there is no manifest `{}`", path.display()),
            Self::MissingFiles(paths) => write!(f, "there is no file {}", list(paths)),
            Self::Directories(paths) => write!(
                f,
                "{} is a directory, not a file; use --manifest-path to check a package",
                list(paths)
            ),
            Self::UnknownPackage { name, known } => {
                write!(
                    f,
                    "no package of this workspace is called `{name}`; there are: {}",
                    known.join(", ")
                )
            }
            Self::UnknownFeature(name) => write!(f, "no selected package has a feature `{name}`"),
            Self::NoTargets(path) => {
                write!(
                    f,
                    "the package at `{}` has no library, program or example",
                    path.display()
                )
            }
            Self::UnknownTarget { triple, cause } => {
                write!(f, "`{triple}` is no known target: {cause}")
            }
            Self::Config(error) => error.fmt(f),
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths
        .iter()
        .map(|path| format!("`{}`", path.display()))
        .collect();
    names.join(", ")
}

impl Error for LoadError {}

impl From<ConfigError> for LoadError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}
