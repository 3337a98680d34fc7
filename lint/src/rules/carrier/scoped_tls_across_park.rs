//! Flags waits of virtual threads while something that belongs to the OS thread is open.
//!
//! ## What it does
//! Reports waits of virtual threads while a lock of standard output, error or input, a default dispatcher of `tracing` or a
//! `scoped_tls` scope is open.
//!
//! ## Why
//! Another virtual thread that is mounted meanwhile finds the carrier's thread-local state of the first one, and closes it in
//! the wrong order.
//!
//! ## What it cannot see
//! Scopes of crates nobody describes. Calls through function pointers, type parameters and crates whose code is neither analysed nor described. Such
//! calls are never reported.
//!
//! ## Example
//! ```rust,ignore
//! let mut out = std::io::stdout().lock();
//! for line in lines.iter() {
//!     writeln!(out, "{line}")?;
//!     vt_runtime::thread::sleep(pause);
//! }
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! for line in lines.iter() {
//!     writeln!(std::io::stdout().lock(), "{line}")?;
//!     vt_runtime::thread::sleep(pause);
//! }
//! ```
//!
//! ## Runtime reason
//! None: this breaks last-in-first-out nesting per OS thread, which no event shows.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::flow::body::Context;
use crate::rules::Rule;
use crate::rules::site::{Site, stream};
use crate::summary::Effect;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("scoped-tls-across-park"),
    level: Level::Warn,
    summary: "an output lock or a thread-local scope held over a virtual thread's wait",
    source: include_str!("scoped_tls_across_park.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    if !site.waits() || site.event.context.has(Context::CRITICAL) || !site.on_carrier(0) {
        return None;
    }
    let held = site.held(stream)?;
    let message = format!(
        "`{}` waits while `{}` is held",
        site.callee(),
        held.guard.lock
    );
    let mut finding = site.finding(
        &RULE,
        message,
        "another virtual thread may be mounted here",
        Some(&held),
    );
    finding.chain = site.chain(Effect::Parks);
    finding.notes.push(
        "what is held belongs to the OS thread, which other virtual threads use meanwhile".into(),
    );
    finding
        .help
        .push("end it before the wait, or wrap both in `vt_runtime::pinned::critical(..)`".into());
    Some(finding)
}
