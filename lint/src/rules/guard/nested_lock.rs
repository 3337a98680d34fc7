//! Flags waiting for a second lock while the guard of a first one is alive.
//!
//! ## What it does
//! Reports `lock`, `read`, `write`, `enter` and calls of functions that return a guard, while the guard of a monitor-style
//! lock is alive. `try_` forms are fine. When the same two locks are taken in the other order elsewhere, the finding is raised
//! to deny.
//!
//! ## Why
//! Two threads that take two locks in different orders wait for each other for ever. Even with one order, the wait for the
//! second lock is added to the time the first one is held.
//!
//! ## What it cannot see
//! Whether two variables of the same type are the same lock. Re-entry of a reentrant lock is only recognised when both places
//! are written alike.
//!
//! ## Example
//! ```rust,ignore
//! let mut a = self.a.lock().unwrap();
//! let b = self.b.lock().unwrap();
//! a.extend(b.iter());
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! let b = self.b.lock().unwrap().clone();
//! self.a.lock().unwrap().extend(b);
//! ```
//!
//! ## Runtime reason
//! `monitor_enter` under `monitor`: the wait for the second lock keeps the carrier.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::rules::Rule;
use crate::rules::site::{Site, monitor};

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("nested-lock"),
    level: Level::Warn,
    summary: "a second blocking lock under a guard; with the inverse order elsewhere it is raised to deny",
    source: include_str!("nested_lock.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    let (id, kind) = site.acquired()?;
    if !site.takes(id) {
        return None;
    }
    let held = site.held(monitor)?;
    let second = site.taken_here()?;
    if kind & REENTRANT != 0 && !second.text.is_empty() && second.text == held.guard.text {
        return None;
    }
    let message = format!(
        "waits for `{}` while the guard of `{}` is alive",
        second.lock, held.guard.lock
    );
    let mut finding = site.finding(&RULE, message, "the second lock is taken here", Some(&held));
    if site.is_inverted(&held.guard.lock, &second.lock) {
        finding.level = Level::Deny;
        finding.notes.push("elsewhere the two locks are taken in the other order: two threads can wait for each other for ever".into());
    }
    finding
        .notes
        .push("the first lock is held for as long as the second one is waited for".into());
    finding.help.push("end the first guard before taking the second lock, or take what is needed out of one of them".into());
    Some(finding)
}

/// The bit of locks that their owner may take again.
const REENTRANT: u8 = 2;
