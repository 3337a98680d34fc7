//! Flags a suppression that does not say why.
//!
//! ## What it does
//! Reports a `vt-lint: allow(..)` comment without `-- reason` and a `lint_allow` attribute without `reason = ".."`.
//! The suppression still works.
//!
//! ## Why
//! The reason is what the next reader needs to judge whether the suppression still holds.
//!
//! ## What it cannot see
//! Whether the reason is true.
//!
//! ## Example
//! ```text
//! // vt-lint: allow(blocking-in-guard)
//! ```
//!
//! ## Use instead
//! ```text
//! // vt-lint: allow(blocking-in-guard) -- taken once, before any virtual thread runs
//! ```
//!
//! ## Runtime reason
//! None: this rule is about the check, not about a pin.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::rules::Rule;
use crate::rules::hygiene::suppression::Suppression;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("suppression-without-reason"),
    level: Level::Warn,
    summary: "a suppression that does not say why",
    source: include_str!("suppression_without_reason.rs"),
};

/// The finding for one suppression.
pub fn finding(suppression: &Suppression) -> Finding {
    Finding {
        rule: RULE.id,
        level: RULE.level,
        message: "this suppression gives no reason".to_owned(),
        primary: suppression.span.clone(),
        primary_label: "no reason".to_owned(),
        guard: None,
        chain: Vec::new(),
        notes: Vec::new(),
        help: vec![
            "write `-- reason` behind the rule names, or `reason = \"..\"` in the attribute"
                .to_owned(),
        ],
        lock: None,
        function: suppression.function.clone(),
        crate_index: suppression.crate_index,
        fix: None,
    }
}
