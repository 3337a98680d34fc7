//! Flags blocking calls in async code.
//!
//! ## What it does
//! Reports calls that block, directly or through functions of the workspace, in the body of an async function or block.
//! Closures for `spawn_blocking`, `block_in_place` and OS threads are exempt.
//!
//! ## Why
//! The executor's thread runs no other task meanwhile.
//!
//! ## What it cannot see
//! Whether the future runs on a thread of its own. Calls through function pointers, type parameters and crates whose code is neither analysed nor described. Such
//! calls are never reported.
//!
//! ## Example
//! ```rust,ignore
//! async fn load(path: &str) -> io::Result<String> {
//!     std::fs::read_to_string(path)
//! }
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! async fn load(path: &str) -> io::Result<String> {
//!     tokio::fs::read_to_string(path).await
//! }
//! ```
//!
//! ## Runtime reason
//! None: this is about executors, not about virtual threads, where `blocking-on-carrier` reports the same call.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::flow::body::Context;
use crate::rules::Rule;
use crate::rules::site::Site;
use crate::summary::Effect;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("blocking-in-async"),
    level: Level::Warn,
    summary: "a blocking call in async code",
    source: include_str!("blocking_in_async.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    if !site.is_async() || site.event.context.has(Context::BLOCKING) || site.on_carrier(0) {
        return None;
    }
    let direct = site.is_direct(Effect::Blocks);
    if !direct && site.through(Effect::Blocks).is_none() {
        return None;
    }
    let message = if direct {
        format!("`{}` {} in async code", site.callee(), site.does())
    } else {
        format!(
            "`{}` reaches `{}`, which blocks, in async code",
            site.callee(),
            site.end_of_chain(Effect::Blocks)
        )
    };
    let mut finding = site.finding(&RULE, message, "blocks the executor's thread", None);
    finding.chain = site.chain(Effect::Blocks);
    finding
        .notes
        .push("the executor's thread runs no other task meanwhile".into());
    finding
        .help
        .push("use the async form of the call, or hand it to `spawn_blocking`".into());
    Some(finding)
}
