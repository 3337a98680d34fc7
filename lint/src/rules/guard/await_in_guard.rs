//! Flags `.await` while the guard of a blocking lock is alive.
//!
//! ## What it does
//! Reports each `.await` at which a guard of std's or parking_lot's locks, a `Monitor` or a park-aware lock may be alive.
//!
//! ## Why
//! The task can be suspended for any time while it holds the lock. Another task on the same thread that wants the lock then
//! blocks the thread, and the first one can never go on.
//!
//! ## What it cannot see
//! Guards inside futures of other crates. Calls through function pointers, type parameters and crates whose code is neither analysed nor described. Such
//! calls are never reported.
//!
//! ## Example
//! ```rust,ignore
//! let mut hits = self.hits.lock().unwrap();
//! *hits = fetch().await;
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! let fetched = fetch().await;
//! *self.hits.lock().unwrap() = fetched;
//! ```
//!
//! ## Runtime reason
//! `monitor`: the owner of the lock is a thread, and the future may be polled by another one.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::flow::body::What;
use crate::rules::Rule;
use crate::rules::site::{Site, any_lock};

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("await-in-guard"),
    level: Level::Deny,
    summary: "`.await` while the guard of a blocking lock is alive",
    source: include_str!("await_in_guard.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    if !matches!(site.event.what, What::Await) || site.own(any_lock) == 0 {
        return None;
    }
    let held = site.held(any_lock)?;
    let message = format!("`.await` while the guard of `{}` is alive", held.guard.lock);
    let mut finding = site.finding(
        &RULE,
        message,
        "the future may be suspended here",
        Some(&held),
    );
    finding.notes.push("while the task is suspended nobody else gets the lock, and a thread that waits for it runs no other task".into());
    finding.help.push("take what is needed out of the guard and let it end before the await, or use an async lock".into());
    Some(finding)
}
