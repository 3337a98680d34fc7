//! Flags blocking calls on the guarded value itself.
//!
//! ## What it does
//! Reports what `blocking-in-guard` reports, where the call is made on the value the lock protects (`Mutex<File>`) and no
//! other guard is alive.
//!
//! ## Why
//! Often the lock is there to serialise exactly this call, so it is meant; still, everybody who wants the lock waits for the
//! device, and a virtual thread that does keeps its carrier.
//!
//! ## What it cannot see
//! Whether it is meant. Calls through function pointers, type parameters and crates whose code is neither analysed nor described. Such
//! calls are never reported.
//!
//! ## Example
//! ```rust,ignore
//! self.file.lock().unwrap().sync_all()?;
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! // A clone of the handle needs no lock.
//! self.file.lock().unwrap().try_clone()?.sync_all()?;
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
    id: RuleId::new("blocking-through-guard"),
    level: Level::Warn,
    summary: "a blocking call on the guarded value itself",
    source: include_str!("blocking_through_guard.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    if !site.is_direct(Effect::Blocks) {
        return None;
    }
    let held = site.held(monitor)?;
    if held.by_callee.is_some() || !site.is_through() {
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
    finding.help.push("if it is meant, say so with a suppression; else hand the work to a thread that owns the value".into());
    Some(finding)
}
