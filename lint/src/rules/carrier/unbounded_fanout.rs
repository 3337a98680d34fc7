//! Flags a virtual thread for each item over a limited resource, with nothing that limits their number.
//!
//! ## What it does
//! Reports a spawn of virtual threads in a loop over items, when what is spawned opens connections or files, resolves names
//! or starts processes, and neither the loop nor the thread waits for a permit.
//!
//! ## Why
//! A pool of OS threads limited by its size how many connections were open. A virtual thread for each item does not: the
//! peer, the file descriptors or the memory run out instead.
//!
//! ## What it cannot see
//! How many items there are, limits by `try_acquire`, by a channel or by the peer, and lists that were cut into chunks
//! before. Calls through function pointers, type parameters and crates whose code is neither analysed nor described.
//!
//! ## Example
//! ```rust,ignore
//! for host in hosts {
//!     vt_runtime::thread::spawn(move || TcpStream::connect(host));
//! }
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! for host in hosts {
//!     let permit = at_once.acquire(); // a `Semaphore`
//!     vt_runtime::thread::spawn(move || { let peer = TcpStream::connect(host); drop(permit); peer });
//! }
//! ```
//!
//! ## Runtime reason
//! None: nothing is pinned. `VirtualThreadSubmitFailed` when it is the threads that run out.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::flow::body::{Context, Event, What};
use crate::rules::Rule;
use crate::rules::site::Site;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("unbounded-fanout"),
    level: Level::Allow,
    summary: "a virtual thread for each item over a limited resource, with no limit",
    source: include_str!("unbounded_fanout.rs"),
};

/// Functions that open what there is only so much of.
const OPENING: [&str; 12] = [
    "connect",
    "connect_timeout",
    "lookup",
    "to_socket_addrs",
    "open",
    "create",
    "create_new",
    "output",
    "status",
    "spawn",
    "acquire_owned",
    "get_connection",
];

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    let context = site.event.context;
    if !context.has(Context::LOOP) || context.has(Context::COUNTED) {
        return None;
    }
    // An executor of virtual threads has its limit.
    if site.callee().starts_with("Executor::") {
        return None;
    }
    let limits = |event: &Event| matches!(&event.what, What::Parks(_, label, _) if *label == "waits for a permit");
    if site.body().events.iter().any(limits) {
        return None;
    }
    let mut opened = None;
    for body in site.spawned() {
        let events = &site.graph.bodies[body as usize].events;
        if events.iter().any(limits) {
            return None;
        }
        opened = opened.or_else(|| events.iter().find_map(|event| opens(site, event)));
    }
    let opened = opened?;
    let message = format!(
        "a virtual thread for each item calls `{opened}`, and nothing limits how many do at once"
    );
    let mut finding = site.finding(&RULE, message, "one for each item", None);
    finding
        .notes
        .push("connections, files and processes run out before virtual threads do".into());
    finding.help.push(
        "take a permit of a `vt_runtime::sync::Semaphore` before the spawn, or use `vt_runtime::task::Executor::per_task(limit)`"
            .into(),
    );
    Some(finding)
}

fn opens(site: &Site<'_, '_>, event: &Event) -> Option<String> {
    let (What::Blocks(id, _) | What::Parks(id, ..)) = event.what else {
        return None;
    };
    let name = site.graph.model.function_name(id);
    let last = name.rsplit("::").next().unwrap_or_default();
    let of_files = site.graph.model.function_path(id).contains("::fs::");
    (OPENING.contains(&last) || of_files).then_some(name)
}
