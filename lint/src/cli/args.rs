//! The flags and `--help`.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use anstream::AutoStream;
use clap::{ArgMatches, Command, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};

use super::dirty::Allowed;
use crate::diagnostic::Level;
use crate::input::Edition;
use crate::render::Format;

const AFTER_HELP: &str = "\
Exit codes:
  0  nothing at deny level was found
  1  something at deny level was found
  2  nothing could be analysed, or the command line or the configuration is wrong

Configuration: the nearest vt-lint.toml, else [package.metadata.vt-lint], else
[workspace.metadata.vt-lint].
Suppression: `// vt-lint: allow(rule) -- reason` on the line or above it.
The checked code is only read: no build script, macro, alias or toolchain file of it runs.
For code you do not trust call `cargo-vt-lint` itself: an alias could stand in for `cargo vt-lint`.";

/// Find blocking calls, foreign calls and waits of virtual threads under a lock guard, without building.
#[derive(Debug, Parser)]
#[command(name = "cargo vt-lint", bin_name = "cargo vt-lint", version, after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Files to check, each as a crate of its own (`-` for standard input), instead of packages
    #[arg(value_name = "FILES.rs", conflicts_with_all = ["package", "workspace", "exclude", "manifest_path"])]
    pub files: Vec<PathBuf>,
    /// The name that standard input goes by
    #[arg(long, value_name = "FILE", default_value = "stdin.rs")]
    pub stdin_filename: PathBuf,
    /// Edition of the files [default: that of the nearest manifest, else 2024]
    #[arg(long, value_parser = edition, value_name = "YEAR")]
    pub edition: Option<Edition>,

    #[command(flatten)]
    pub packages: Packages,
    #[command(flatten)]
    pub features: Features,

    /// Also check tests, benchmarks and build scripts
    #[arg(long, help_heading = "What to check")]
    pub tests: bool,
    /// Also look through the dependencies' sources in the registry cache for what blocks
    #[arg(long, help_heading = "What to check")]
    pub deps: bool,
    /// Check for this target's `cfg` instead of the host's
    #[arg(long, value_name = "TRIPLE", help_heading = "What to check")]
    pub target: Option<String>,
    /// Report only what lines changed since this revision bring in (needs git)
    #[arg(long, value_name = "REV", help_heading = "What to report")]
    pub since: Option<String>,
    /// Leave out the findings listed in this file
    #[arg(long, value_name = "FILE", help_heading = "What to report")]
    pub baseline: Option<PathBuf>,
    /// Write the findings of this run to a baseline file
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "What to report",
        conflicts_with = "baseline"
    )]
    pub write_baseline: Option<PathBuf>,
    /// Put the findings with most pinned time in these recordings first, and list pins that no finding predicts
    #[arg(long, value_name = "REC.jfr", num_args = 1.., help_heading = "What to report")]
    pub trace: Vec<PathBuf>,
    /// Use this configuration file and no other
    #[arg(long, value_name = "FILE", help_heading = "What to report")]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub levels: Levels,

    /// Form of the findings
    #[arg(long, value_name = "FORM", value_enum, default_value_t = MessageFormat::Human, help_heading = "Output")]
    pub message_format: MessageFormat,
    /// Print the manual of a rule
    #[arg(long, value_name = "RULE", help_heading = "Output", exclusive = true)]
    pub explain: Option<String>,
    /// Print all rules with their levels
    #[arg(long, help_heading = "Output")]
    pub list_rules: bool,
    /// Print how much was analysed and how many findings each rule has
    #[arg(long, help_heading = "Output")]
    pub statistics: bool,
    /// Print every file that was analysed or left out, and why
    #[arg(long, help_heading = "Output")]
    pub show_files: bool,
    /// Exit with 0 also when something at deny level was found
    #[arg(long, help_heading = "Output")]
    pub exit_zero: bool,
    /// Say less: no summary; twice for no notices
    #[arg(long, short, action = clap::ArgAction::Count, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: u8,
    /// Say more: which configuration and which crates
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
    /// Colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,

    #[command(flatten)]
    pub repair: Repair,

    /// Analyse again even when nothing changed since the last run
    #[arg(long, help_heading = "Speed")]
    pub no_cache: bool,
    /// Threads to analyse with [default: one for each core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Speed")]
    pub jobs: Option<u16>,
}

/// Which packages.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What to check")]
pub(crate) struct Packages {
    /// Check this package (name, pattern or id)
    #[arg(long = "package", short, value_name = "PKG")]
    pub package: Vec<String>,
    /// Check all packages of the workspace
    #[arg(long, visible_alias = "all")]
    pub workspace: bool,
    /// Leave out this package
    #[arg(long, value_name = "PKG")]
    pub exclude: Vec<String>,
    /// The manifest to start from
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
}

/// Which features.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What to check")]
pub(crate) struct Features {
    /// Switch on these features, separated by commas or spaces
    #[arg(long, short = 'F', value_name = "FEATURES", value_delimiter = ',')]
    pub features: Vec<String>,
    /// Switch on all features
    #[arg(long)]
    pub all_features: bool,
    /// Leave the default features off
    #[arg(long)]
    pub no_default_features: bool,
}

/// What is repaired.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Repair")]
pub(crate) struct Repair {
    /// Apply the repairs that keep the program's meaning
    #[arg(long)]
    pub fix: bool,
    /// With --fix: print the changes instead of making them
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
    /// With --fix: also when files have changes that are not committed
    #[arg(long, requires = "fix")]
    pub allow_dirty: bool,
    /// With --fix: also when files have changes that are staged
    #[arg(long, requires = "fix")]
    pub allow_staged: bool,
    /// With --fix: also when the code is under no version control
    #[arg(long, requires = "fix")]
    pub allow_no_vcs: bool,
}

impl Repair {
    /// What lets a repair pass.
    pub(crate) fn allowed(&self) -> Allowed {
        Allowed {
            dirty: self.allow_dirty,
            staged: self.allow_staged,
            no_vcs: self.allow_no_vcs,
        }
    }
}

/// Levels of rules in the order given: the last one counts.
#[derive(Debug, Default)]
pub(crate) struct Levels(pub Vec<(Level, String)>);

/// The flags that set levels. Clap keeps each flag's values apart, so their order is taken from the matches.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What to report")]
struct LevelFlags {
    /// Report this rule and fail the run (`all`, or `warnings` for those at warn)
    #[arg(long, short = 'D', value_name = "RULE", value_delimiter = ',')]
    deny: Vec<String>,
    /// Report this rule (or `all`)
    #[arg(long, short = 'W', value_name = "RULE", value_delimiter = ',')]
    warn: Vec<String>,
    /// Do not report this rule (or `all`)
    #[arg(long, short = 'A', value_name = "RULE", value_delimiter = ',')]
    allow: Vec<String>,
}

impl clap::FromArgMatches for Levels {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for level in [Level::Deny, Level::Warn, Level::Allow] {
            let indices = matches.indices_of(level.name()).into_iter().flatten();
            let values = matches
                .get_many::<String>(level.name())
                .into_iter()
                .flatten();
            given.extend(
                indices
                    .zip(values)
                    .map(|(index, rule)| (index, level, rule.clone())),
            );
        }
        given.sort();
        Ok(Self(
            given
                .into_iter()
                .map(|(_, level, rule)| (level, rule))
                .collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Levels {
    fn augment_args(command: Command) -> Command {
        LevelFlags::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        LevelFlags::augment_args_for_update(command)
    }
}

/// The values of `--message-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// The source, the guard, the call, why and what to do
    Human,
    /// One line a finding
    Short,
    /// Cargo's compiler messages, one JSON object a line
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations for GitHub Actions
    Github,
}

impl MessageFormat {
    /// The renderer.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::Human => Format::Human,
            Self::Short => Format::Short,
            Self::Json => Format::Json,
            Self::Sarif => Format::Sarif,
            Self::Github => Format::Github,
        }
    }
}

/// The values of `--color`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// What `anstream` makes of it: `Auto` also heeds `NO_COLOR` and its kin.
    pub(crate) fn choice(self) -> anstream::ColorChoice {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
    }
}

/// Standard error with colours as asked for.
pub(crate) fn stderr(color: Color) -> AutoStream<io::Stderr> {
    AutoStream::new(io::stderr(), color.choice())
}

/// Reads the command line, the program's name first.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Args, clap::Error> {
    let matches = Args::command().try_get_matches_from(arguments)?;
    Args::from_arg_matches(&matches)
}

fn edition(text: &str) -> Result<Edition, String> {
    Edition::parse(text).ok_or_else(|| "the editions are 2015, 2018, 2021 and 2024".to_owned())
}
