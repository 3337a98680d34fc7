//! Flags a suppression that suppresses nothing.
//!
//! ## What it does
//! Reports each rule named in a `vt-lint: allow(..)` comment or a `lint_allow` attribute for which there is no
//! finding in the lines it covers, and each name that is no rule.
//!
//! ## Why
//! A stale suppression hides the next finding on that line, which nobody has looked at.
//!
//! ## What it cannot see
//! Findings of another build: code that is off under this `cfg` has no findings, so its suppressions look unused
//! when the file is shared between targets. Rules that are at `allow` in this run are not judged.
//!
//! ## Example
//! ```text
//! // vt-lint: allow(blocking-in-guard) -- start-up only
//! let total = a + b;
//! ```
//!
//! ## Use instead
//! ```text
//! let total = a + b;
//! ```
//!
//! ## Runtime reason
//! None: this rule is about the check, not about a pin.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::rules::Rule;
use crate::rules::hygiene::suppression::Suppression;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("unused-suppression"),
    level: Level::Warn,
    summary: "a suppression that suppresses nothing",
    source: include_str!("unused_suppression.rs"),
};

/// The finding for one name in one suppression.
pub fn finding(suppression: &Suppression, name: &str, known: bool) -> Finding {
    let (message, label, help) = if known {
        (
            format!("there is no `{name}` finding here to suppress"),
            "suppresses nothing",
            "remove it",
        )
    } else {
        (
            format!("there is no rule `{name}`"),
            "names no rule",
            "`cargo vt-lint --list-rules` lists the names",
        )
    };
    Finding {
        rule: RULE.id,
        level: RULE.level,
        message,
        primary: suppression.span.clone(),
        primary_label: label.to_owned(),
        guard: None,
        chain: Vec::new(),
        notes: Vec::new(),
        help: vec![help.to_owned()],
        lock: None,
        function: suppression.function.clone(),
        crate_index: suppression.crate_index,
        fix: None,
    }
}
