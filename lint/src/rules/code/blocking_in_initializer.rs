//! Flags blocking calls in initialisers of lazily initialised cells.
//!
//! ## What it does
//! Reports calls that block in the initialiser of a `LazyLock`, `once_cell::sync::Lazy`, `lazy_static!` or `thread_local!`,
//! and in closures given to `get_or_init`, `call_once` and `entry(..).or_insert_with`.
//!
//! ## Why
//! Whoever uses the cell first blocks, and with a shared cell everybody else waits for it.
//!
//! ## What it cannot see
//! Functions given to `get_or_init` by name. Calls through function pointers, type parameters and crates whose code is neither analysed nor described. Such
//! calls are never reported.
//!
//! ## Example
//! ```rust,ignore
//! static CONFIG: LazyLock<String> = LazyLock::new(|| std::fs::read_to_string("app.toml").unwrap());
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! static CONFIG: OnceLock<String> = OnceLock::new(); // set in main, before threads start
//! ```
//!
//! ## Runtime reason
//! `monitor_enter`: the cell's internal lock blocks whoever waits for the initialiser.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::flow::body::{BodyKind, Context};
use crate::rules::Rule;
use crate::rules::site::Site;
use crate::summary::Effect;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("blocking-in-initializer"),
    level: Level::Allow,
    summary: "a blocking call in the initialiser of a lazily initialised cell",
    source: include_str!("blocking_in_initializer.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    let name = match site.body().kind {
        BodyKind::Initializer(value) => {
            Some(site.graph.model.index.values[value.index()].syntax.name)
        }
        _ if site.event.context.has(Context::INITIALIZER) => None,
        _ => return None,
    };
    let direct = site.is_direct(Effect::Blocks);
    if !direct && site.through(Effect::Blocks).is_none() {
        return None;
    }
    let message = match name {
        Some(name) => format!("`{}` blocks in the initialiser of `{name}`", site.callee()),
        None => format!("`{}` blocks in an initialising closure", site.callee()),
    };
    let mut finding = site.finding(
        &RULE,
        message,
        "the first user of the cell blocks here",
        None,
    );
    finding.chain = site.chain(Effect::Blocks);
    finding
        .notes
        .push("with a shared cell, everybody else waits for the first user".into());
    finding
        .help
        .push("initialise the cell early, before other threads want it".into());
    Some(finding)
}
