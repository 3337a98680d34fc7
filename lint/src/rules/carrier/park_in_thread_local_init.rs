//! Flags waits of virtual threads inside `thread_local!` initialisers.
//!
//! ## What it does
//! Reports calls in a `thread_local!` initialiser that wait as a virtual thread, when a virtual thread reaches the initialiser.
//!
//! ## Why
//! While the initialiser waits, another virtual thread of the carrier may initialise the same cell; the first one to resume
//! then drops a value the other has borrowed.
//!
//! ## What it cannot see
//! Initialisers of other crates. Calls through function pointers, type parameters and crates whose code is neither analysed nor described. Such
//! calls are never reported.
//!
//! ## Example
//! ```rust,ignore
//! thread_local! {
//!     static PEERS: Vec<SocketAddr> = vt_runtime::net::lookup("peers").unwrap();
//! }
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! static PEERS: vt_runtime::sync::OnceLock<Vec<SocketAddr>> = vt_runtime::sync::OnceLock::new();
//! ```
//!
//! ## Runtime reason
//! None: this is the hole in soundness that the runtime documents.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::flow::body::{BodyKind, Context};
use crate::model::syntax::Storage;
use crate::rules::Rule;
use crate::rules::site::Site;
use crate::summary::Effect;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("park-in-thread-local-init"),
    level: Level::Deny,
    summary: "a virtual thread's wait in a `thread_local!` initialiser",
    source: include_str!("park_in_thread_local_init.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    let BodyKind::Initializer(value) = site.body().kind else {
        return None;
    };
    let value = site.graph.model.index.values[value.index()].syntax;
    if value.storage != Storage::ThreadLocal
        || !site.waits()
        || site.event.context.has(Context::CRITICAL)
        || !site.on_carrier(0)
    {
        return None;
    }
    let message = format!(
        "`{}` waits inside the initialiser of the thread-local `{}`",
        site.callee(),
        value.name
    );
    let mut finding = site.finding(
        &RULE,
        message,
        "another virtual thread may initialise the same cell meanwhile",
        None,
    );
    finding.chain = site.chain(Effect::Parks);
    finding
        .notes
        .push("whoever resumes first drops a value that the other one has borrowed".into());
    finding.help.push("use `vt_runtime::task::local!` or `vt_runtime::sync::OnceLock`, or wrap the wait in `vt_runtime::pinned::critical(..)`".into());
    Some(finding)
}
