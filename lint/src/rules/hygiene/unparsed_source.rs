//! Flags a source file that could not be read or parsed.
//!
//! ## What it does
//! Reports each file of the crate that is missing, unreadable, not UTF-8, outside the workspace, nested too
//! deeply, or not Rust. All other files are analysed as usual.
//!
//! ## Why
//! Code that was not read was not checked. A run that stays silent about it would look clean.
//!
//! ## What it cannot see
//! Whether the file belongs to this build: a `mod` under a `cfg` name that only a build script sets counts as
//! part of it. Files below `OUT_DIR` and files marked as generated are skipped, not reported; `--show-files`
//! lists them.
//!
//! ## Example
//! ```text
//! fn broken( {
//! ```
//!
//! ## Use instead
//! Code that `rustc` parses. For a file that is not meant to be Rust, exclude its path in `vt-lint.toml`.
//!
//! ## Runtime reason
//! None: this rule is about the check, not about a pin.

use crate::diagnostic::{Finding, Level, RuleId, Span};
use crate::rules::Rule;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("unparsed-source"),
    level: Level::Deny,
    summary: "a file that could not be read or parsed (the rest is analysed)",
    source: include_str!("unparsed_source.rs"),
};

/// The finding for a file, at the place where reading or parsing stopped, or where a file asks for one that is not to
/// be read. `cause` reads after the file's name (`cannot be read: permission denied`, `does not parse: expected ..`).
pub fn finding(place: Span, file: &str, cause: &str, crate_index: usize) -> Finding {
    let message = format!("`{file}` {cause}");
    of(
        place,
        message,
        "nothing in this file was checked",
        crate_index,
    )
}

/// The finding for a module without a file, at its declaration.
pub fn missing(place: Span, module: &str, crate_index: usize) -> Finding {
    let message = format!("there is no file for the module `{module}`");
    of(
        place,
        message,
        "nothing in this module was checked",
        crate_index,
    )
}

fn of(place: Span, message: String, label: &str, crate_index: usize) -> Finding {
    Finding {
        rule: RULE.id,
        level: RULE.level,
        message,
        primary: place,
        primary_label: label.to_owned(),
        guard: None,
        chain: Vec::new(),
        notes: Vec::new(),
        help: Vec::new(),
        lock: None,
        function: None,
        crate_index,
        fix: None,
    }
}
