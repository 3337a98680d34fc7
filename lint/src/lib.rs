//! Finds blocking calls, foreign calls and waits of virtual threads under a lock guard, from source alone.
//!
//! [`check`] is pure: it sees files only through [`Sources`], starts nothing and prints nothing. [`workspace`] reads
//! the disk and asks cargo, [`render`] formats, [`cli`] puts them together.

mod check;
pub mod cli;
pub mod config;
pub mod diagnostic;
mod flow;
pub mod input;
mod knowledge;
mod model;
pub mod render;
pub mod rules;
mod source;
mod summary;
pub mod workspace;

pub use check::{FileStatus, FileSummary, Report, Statistics, check};
pub use config::{Config, ConfigError};
pub use diagnostic::{Edit, Finding, Fix, Label, Level, Position, RuleId, Span};
pub use input::{
    CfgSet, CfgState, CrateInput, Dependency, Edition, Input, SourceError, Sources, TargetKind,
};
