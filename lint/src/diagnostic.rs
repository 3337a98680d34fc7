//! Findings as plain data.
//!
//! Owns the one type every rule makes and every renderer reads. Must not format anything: how a finding looks
//! is decided in `render/`, what it says is decided by its rule.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One thing a rule found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// How bad it is, configuration applied. Rules write their default.
    pub level: Level,
    /// One sentence, lower case, without a full stop: what happens where.
    pub message: String,
    /// The place to act on: the blocking call.
    pub primary: Span,
    /// What stands under the primary place (`sleeps here`).
    pub primary_label: String,
    /// Where the guard was taken.
    pub guard: Option<Label>,
    /// For a finding through calls: every step from the reported call to the one that blocks, in call order.
    pub chain: Vec<Label>,
    /// Why it matters.
    pub notes: Vec<String>,
    /// Cures, best first.
    pub help: Vec<String>,
    /// The lock, as the reader would name it (`Registry.entries`); findings are grouped by it.
    pub lock: Option<String>,
    /// The function around the primary place (`Registry::flush`). Part of the fingerprint, so it must not
    /// contain line numbers.
    pub function: Option<String>,
    /// The crate, as an index into [`Input::crates`](crate::Input::crates).
    pub crate_index: usize,
    /// A change that removes the finding and keeps the program's meaning.
    pub fix: Option<Fix>,
}

/// A place with a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What to say there.
    pub text: String,
}

/// A range of a file, `end` exclusive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The file as [`Sources::display`](crate::Sources::display) shows it.
    pub file: Arc<str>,
    /// The first character.
    pub start: Position,
    /// Behind the last character.
    pub end: Position,
}

/// A point in a file.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Offset in bytes, from 0.
    pub byte: u32,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    /// Not reported.
    Allow,
    /// Reported.
    Warn,
    /// Reported, and the run fails.
    Deny,
}

impl Level {
    /// Reads `allow`, `warn` or `deny`.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Allow, Self::Warn, Self::Deny]
            .into_iter()
            .find(|level| level.name() == text)
    }

    /// The word for it in flags and configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }
}

/// A rule's name: `blocking-in-guard`.
///
/// The rules themselves, with level and manual, are rows of [`rules::TABLE`](crate::rules::TABLE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(&'static str);

impl RuleId {
    /// A name in kebab case.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl Serialize for RuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for RuleId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        crate::rules::find(&name)
            .map(|rule| rule.id)
            .ok_or_else(|| serde::de::Error::custom(format!("there is no rule `{name}`")))
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A change to the source that removes a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What it does, as a sentence for the reader.
    pub message: String,
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
}

/// One replaced range; an empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub replacement: String,
}
