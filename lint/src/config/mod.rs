//! What a project or a command line may set.
//!
//! Owns the keys of `vt-lint.toml`, which are also those of `[package.metadata.vt-lint]` and
//! `[workspace.metadata.vt-lint]`. Parses text only: which file counts is decided in `workspace.rs`. A key nobody
//! knows is an error, because a misspelt exclusion that is silently ignored looks like a clean run.

mod glob;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use serde::Deserialize;

use crate::diagnostic::{Level, RuleId};
use crate::rules;

pub(crate) use glob::matches_path;

/// Settings of one run. The default is what a project without configuration gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    levels: BTreeMap<RuleId, Level>,
    /// Functions that block, besides those the lint knows: paths as code would spell them (`crate_name::db::run`,
    /// `crate_name::Client::send` for a method).
    pub blocking: Vec<String>,
    /// Functions that do not block, whatever the lint knows or finds in their bodies.
    pub not_blocking: Vec<String>,
    /// Functions that park a virtual thread or coroutine.
    pub park: Vec<String>,
    /// Foreign functions, or crates all of whose functions are foreign.
    pub foreign: Vec<String>,
    /// Types that are locks: `lock`, `read`, `write` and their `try_` forms on them give a guard.
    pub locks: Vec<String>,
    /// Whether tests, benchmarks and build scripts are analysed too.
    pub tests: bool,
    exclude: Vec<String>,
}

/// The keys, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[derive(Default)]
struct Keys {
    levels: BTreeMap<String, String>,
    blocking: Vec<String>,
    not_blocking: Vec<String>,
    park: Vec<String>,
    foreign: Vec<String>,
    locks: Vec<String>,
    tests: bool,
    exclude: Vec<String>,
}

impl Config {
    /// Reads the text of a `vt-lint.toml`. `origin` is how errors name it.
    ///
    /// # Errors
    /// For text that is not TOML, an unknown key or rule, or a level that is none.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, ConfigError> {
        let keys = toml::from_str(text)
            .map_err(|error| ConfigError::new(origin, error.to_string().trim_end().to_owned()))?;
        Self::from_keys(keys, origin)
    }

    /// Reads the `metadata.vt-lint` value of a package or workspace, as cargo prints it.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml).
    pub fn from_json(value: &serde_json::Value, origin: &str) -> Result<Self, ConfigError> {
        let keys = Keys::deserialize(value)
            .map_err(|error| ConfigError::new(origin, error.to_string()))?;
        Self::from_keys(keys, origin)
    }

    fn from_keys(keys: Keys, origin: &str) -> Result<Self, ConfigError> {
        let mut config = Self {
            levels: BTreeMap::new(),
            blocking: keys.blocking,
            not_blocking: keys.not_blocking,
            park: keys.park,
            foreign: keys.foreign,
            locks: keys.locks,
            tests: keys.tests,
            exclude: keys.exclude,
        };
        for (name, level) in keys.levels {
            let rule = rules::find(&name).ok_or_else(|| {
                ConfigError::new(
                    origin,
                    format!(
                        "there is no rule `{name}`; `cargo vt-lint --list-rules` lists the names"
                    ),
                )
            })?;
            let level = Level::parse(&level).ok_or_else(|| {
                ConfigError::new(
                    origin,
                    format!("the level of `{name}` is `{level}`; it must be allow, warn or deny"),
                )
            })?;
            config.levels.insert(rule.id, level);
        }
        Ok(config)
    }

    /// Overrides the level of one rule.
    pub fn set_level(&mut self, rule: RuleId, level: Level) {
        self.levels.insert(rule, level);
    }

    /// Raises every rule that is at `warn` to `deny`.
    pub fn deny_warnings(&mut self) {
        for rule in rules::TABLE {
            if self.level(rule.id) == Level::Warn {
                self.set_level(rule.id, Level::Deny);
            }
        }
    }

    /// The level that was asked for. A rule may raise a finding above its usual level as long as
    /// nobody asked.
    pub fn configured_level(&self, rule: RuleId) -> Option<Level> {
        self.levels.get(&rule).copied()
    }

    /// The usual level of a rule in this run.
    pub fn level(&self, rule: RuleId) -> Level {
        let default = || rules::find(rule.name()).map_or(Level::Warn, |row| row.level);
        self.configured_level(rule).unwrap_or_else(default)
    }

    /// Whether findings in the file of this display path are left out.
    pub fn is_excluded(&self, path: &str) -> bool {
        self.exclude
            .iter()
            .any(|pattern| matches_path(pattern, path))
    }
}

/// Whether a path is what an entry names: all of it, or its end.
pub(crate) fn is_named(path: &str, entry: &str) -> bool {
    path.strip_suffix(entry)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
}

/// Configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    origin: String,
    cause: String,
}

impl ConfigError {
    pub(crate) fn new(origin: &str, cause: String) -> Self {
        Self {
            origin: origin.to_owned(),
            cause,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.cause)
    }
}

impl Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read() {
        let text = "
            blocking = ['a::b']
            not-blocking = ['a::c']
            park = ['a::d']
            foreign = ['e-sys']
            locks = ['a::Spin']
            tests = true
            exclude = ['src/generated/**']
            [levels]
            unparsed_source = 'warn'
        ";
        let config = Config::from_toml(text, "vt-lint.toml").expect("valid");
        assert_eq!(config.blocking, ["a::b"]);
        assert_eq!(config.not_blocking, ["a::c"]);
        assert_eq!(config.park, ["a::d"]);
        assert_eq!(config.foreign, ["e-sys"]);
        assert_eq!(config.locks, ["a::Spin"]);
        assert!(config.tests);
        assert!(config.is_excluded("src/generated/deep/api.rs"));
        assert!(!config.is_excluded("src/api.rs"));
        assert_eq!(
            config.level(rules::hygiene::unparsed_source::RULE.id),
            Level::Warn
        );
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| {
            Config::from_toml(text, "vt-lint.toml")
                .expect_err("invalid")
                .to_string()
        };
        assert!(error("blokcing = []").contains("blokcing"));
        assert!(
            error("[levels]\nno-such-rule = 'warn'").contains("there is no rule `no-such-rule`")
        );
        assert!(
            error("[levels]\nunparsed-source = 'forbid'").contains("must be allow, warn or deny")
        );
        assert!(error("levels = ").contains("vt-lint.toml"));
        let json = serde_json::json!({ "excludes": [] });
        assert!(
            Config::from_json(&json, "Cargo.toml")
                .expect_err("invalid")
                .to_string()
                .contains("excludes")
        );
    }
}
