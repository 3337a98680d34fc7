//! Flags blocking calls of OS threads in code that virtual threads reach.
//!
//! ## What it does
//! Reports calls that block the OS thread in code reachable from `vt_runtime`'s spawns, `main` and `test`. Each call is
//! reported once, where it stands, however many ways lead there. Closures for `blocking` and OS threads are not reached.
//!
//! ## Why
//! The call keeps the carrier, and all virtual threads on it stand still.
//!
//! ## What it cannot see
//! Ways through function pointers. Calls through function pointers, type parameters and crates whose code is neither analysed nor described. Such
//! calls are never reported.
//!
//! ## Example
//! ```rust,ignore
//! vt_runtime::thread::spawn(|| std::thread::sleep(pause));
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! vt_runtime::thread::spawn(|| vt_runtime::thread::sleep(pause));
//! ```
//!
//! ## Runtime reason
//! `native` with `source = sampled`: the watchdog sees the carrier blocked in a system call nobody declared.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::flow::body::Context;
use crate::rules::Rule;
use crate::rules::site::Site;
use crate::summary::Effect;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("blocking-on-carrier"),
    level: Level::Deny,
    summary: "std's blocking calls in code that virtual threads reach",
    source: include_str!("blocking_on_carrier.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    if !site.is_direct(Effect::Blocks) || !site.on_carrier(Context::BLOCKING) {
        return None;
    }
    let message = format!("`{}` {} on a carrier", site.callee(), site.does());
    let mut finding = site.finding(&RULE, message, "virtual threads reach this call", None);
    finding
        .notes
        .push("the carrier and all virtual threads on it stand still meanwhile".into());
    finding.help.push(
        "use the call of the same name in `vt_runtime`, or wrap it in `vt_runtime::blocking(..)`"
            .into(),
    );
    Some(finding)
}
