//! Flags blocking calls while a monitor-style guard is alive.
//!
//! ## What it does
//! Reports calls that sleep, join, wait for a process, a channel, a socket, a file, a database, and the like, while the guard
//! of std's or parking_lot's locks or of a `Monitor` may be alive. Drop scopes are followed exactly, by edition.
//!
//! ## Why
//! Everybody who wants the lock waits for the call, not only the caller. A virtual thread that holds a monitor cannot
//! unmount, so it keeps its carrier, and all virtual threads on that carrier stand still.
//!
//! ## What it cannot see
//! Calls through function pointers, type parameters and crates whose code is neither analysed nor described. Such
//! calls are never reported.
//!
//! ## Example
//! ```rust,ignore
//! let mut cache = self.cache.lock().unwrap();
//! cache.insert(key, std::fs::read(path)?);
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! let data = std::fs::read(path)?;
//! self.cache.lock().unwrap().insert(key, data);
//! ```
//!
//! ## Runtime reason
//! `monitor`: a virtual thread that blocks under a monitor pins its carrier.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::rules::Rule;
use crate::rules::site::{Site, monitor};
use crate::summary::Effect;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("blocking-in-guard"),
    level: Level::Deny,
    summary: "a blocking call while a monitor-style guard is alive",
    source: include_str!("blocking_in_guard.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    if !site.is_direct(Effect::Blocks) {
        return None;
    }
    let held = site.held(monitor)?;
    if held.by_callee == Some(true) || site.is_through() {
        return None;
    }
    let message = format!(
        "`{}` {} while the guard of `{}` is alive",
        site.callee(),
        site.does(),
        held.guard.lock
    );
    let mut finding = site.finding(&RULE, message, "blocks here", Some(&held));
    finding.notes.push("everybody who wants the lock waits for this call, and a virtual thread that makes it keeps its carrier".into());
    finding.help.push("take what the call needs out of the guard and end the guard first, or make the call before locking".into());
    Some(finding)
}
