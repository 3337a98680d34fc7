//! Flags waits of virtual threads and coroutines while a monitor-style guard is alive.
//!
//! ## What it does
//! Reports calls of `vt_runtime` and `may` that wait (sleep, park, join, receive, socket reads, ...), directly or through
//! functions of the workspace, while the guard of std's or parking_lot's locks or of a `Monitor` is alive.
//!
//! ## Why
//! The thread that waits keeps an OS-thread lock. Everybody who wants the lock waits for the call, not only the caller. A virtual thread that holds a monitor cannot
//! unmount, so it keeps its carrier, and all virtual threads on that carrier stand still.
//!
//! ## What it cannot see
//! Waits through trait objects with an implementation that does not wait. Calls through function pointers, type parameters and crates whose code is neither analysed nor described. Such
//! calls are never reported.
//!
//! ## Example
//! ```rust,ignore
//! let jobs = self.jobs.lock().unwrap();
//! vt_runtime::thread::sleep(pause);
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! #[vt_runtime::park_safe]
//! mod jobs { /* the same code: the lock is park-aware now */ }
//! ```
//!
//! ## Runtime reason
//! `monitor`: this is what the event `VirtualThreadPinned` reports when it happens.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::rules::Rule;
use crate::rules::site::{Site, monitor};
use crate::summary::Effect;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("guard-across-park"),
    level: Level::Deny,
    summary: "a wait of a coroutine runtime under a pinning or uninstrumented guard",
    source: include_str!("guard_across_park.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    let direct = site.is_direct(Effect::Parks);
    if !direct && site.through(Effect::Parks).is_none() {
        return None;
    }
    let held = site.held(monitor)?;
    if site.only_yields() && held.guard.is_of_runtime(site.graph) {
        // Yielding under a pin does nothing.
        return None;
    }
    let how = if direct {
        site.does().to_owned()
    } else {
        format!("waits in `{}`", site.end_of_chain(Effect::Parks))
    };
    let message = format!(
        "`{}` {how} while the guard of `{}` is alive",
        site.callee(),
        held.guard.lock
    );
    let mut finding = site.finding(&RULE, message, "the thread waits here", Some(&held));
    finding.chain = site.chain(Effect::Parks);
    finding.notes.push("a thread that holds a monitor is pinned: it keeps its carrier, and all virtual threads on it, for the whole wait".into());
    finding.help.push("end the guard before the wait, or make the lock park-aware with `#[vt_runtime::park_safe]`".into());
    Some(finding)
}
