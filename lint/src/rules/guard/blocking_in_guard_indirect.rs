//! Flags calls that block somewhere below while a monitor-style guard is alive.
//!
//! ## What it does
//! Reports what `blocking-in-guard` reports, through any number of calls inside the workspace: functions, methods, trait
//! objects all of whose implementations block, `Drop`, lazy initialisers, closures. The chain is part of the finding.
//!
//! ## Why
//! Everybody who wants the lock waits for the call, not only the caller. A virtual thread that holds a monitor cannot
//! unmount, so it keeps its carrier, and all virtual threads on that carrier stand still. The blocking call is not in sight of whoever holds the lock.
//!
//! ## What it cannot see
//! Calls through function pointers, type parameters and crates whose code is neither analysed nor described. Such
//! calls are never reported.
//!
//! ## Example
//! ```rust,ignore
//! let mut state = self.state.lock().unwrap();
//! self.save(&state)?; // writes a file
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! let snapshot = self.state.lock().unwrap().clone();
//! self.save(&snapshot)?;
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
    id: RuleId::new("blocking-in-guard-indirect"),
    level: Level::Deny,
    summary: "a call that reaches a blocking call while a monitor-style guard is alive",
    source: include_str!("blocking_in_guard_indirect.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    let held = site.held(monitor)?;
    let direct = site.is_direct(Effect::Blocks);
    if direct && held.by_callee != Some(true) {
        return None;
    }
    if !direct && site.through(Effect::Blocks).is_none() {
        return None;
    }
    let message = if direct {
        format!(
            "`{}` {} in a closure that runs while the guard of `{}` is alive",
            site.callee(),
            site.does(),
            held.guard.lock
        )
    } else {
        let end = site.end_of_chain(Effect::Blocks);
        format!(
            "`{}` reaches `{end}`, which blocks, while the guard of `{}` is alive",
            site.callee(),
            held.guard.lock
        )
    };
    let mut finding = site.finding(
        &RULE,
        message,
        if direct {
            "blocks here"
        } else {
            "blocks somewhere below"
        },
        Some(&held),
    );
    finding.chain = site.chain(Effect::Blocks);
    finding.notes.push("everybody who wants the lock waits for this call, and a virtual thread that makes it keeps its carrier".into());
    finding.help.push("take what the call needs out of the guard and end the guard first, or make the call before locking".into());
    Some(finding)
}
