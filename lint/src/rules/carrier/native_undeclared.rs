//! Flags foreign calls that virtual threads reach and nobody declared.
//!
//! ## What it does
//! Reports calls of foreign functions in code reachable from `vt_runtime`'s spawns, `main` and `test`, that are neither inside
//! `native::call` nor declared with `#[vt_runtime::native]`.
//!
//! ## Why
//! A declared call tells the runtime that time goes to foreign code: events name it, and the runtime can compensate for it.
//!
//! ## What it cannot see
//! Foreign calls inside other crates. Calls through function pointers, type parameters and crates whose code is neither analysed nor described. Such
//! calls are never reported.
//!
//! ## Example
//! ```rust,ignore
//! vt_runtime::thread::spawn(|| unsafe { decode(image) });
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! vt_runtime::thread::spawn(|| vt_runtime::native::call("decode", || unsafe { decode(image) }));
//! ```
//!
//! ## Runtime reason
//! `native`: an undeclared foreign call that blocks is only seen by sampling.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::flow::body::Context;
use crate::rules::Rule;
use crate::rules::site::Site;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("native-undeclared"),
    level: Level::Warn,
    summary: "a foreign call that virtual threads reach without `#[native]` or `native::call`",
    source: include_str!("native_undeclared.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    let (name, declared) = site.foreign()?;
    if declared || !site.on_carrier(Context::NATIVE) {
        return None;
    }
    let message = format!(
        "virtual threads reach the foreign function `{name}`, which is not declared native"
    );
    let mut finding = site.finding(&RULE, message, "foreign code runs here", None);
    finding.notes.push(
        "the runtime cannot tell foreign time from computing, and does not compensate for it"
            .into(),
    );
    finding.help.push("put `#[vt_runtime::native]` on the extern block, or wrap the call in `vt_runtime::native::call(..)`".into());
    Some(finding)
}
