//! Flags virtual threads that are kept in a pool.
//!
//! ## What it does
//! Reports a spawn of virtual threads in a loop that counts (`for _ in 0..workers`), when what is spawned takes jobs from a
//! channel in a loop of its own.
//!
//! ## Why
//! A pool is there to reuse threads that are dear. Virtual threads are cheap, so a pool of them only limits how many jobs
//! run at once, keeps state from one job to the next, and hides in stack traces which job a thread works for.
//!
//! ## What it cannot see
//! Pools whose size is no range in the source, and workers that take jobs from something else than a channel. A fixed
//! number of actors with a channel each looks the same and deserves a suppression.
//!
//! ## Example
//! ```rust,ignore
//! for _ in 0..16 {
//!     let jobs = Arc::clone(&jobs);
//!     vt_runtime::thread::spawn(move || while let Ok(job) = jobs.lock().unwrap().recv() { job.run() });
//! }
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! for job in jobs {
//!     let permit = at_once.acquire(); // a `Semaphore`, if what the jobs use is limited
//!     vt_runtime::thread::spawn(move || { job.run(); drop(permit) });
//! }
//! ```
//!
//! ## Runtime reason
//! None: nothing is pinned.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::flow::body::{Context, What};
use crate::rules::Rule;
use crate::rules::site::Site;

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("pooled-virtual-threads"),
    level: Level::Allow,
    summary: "virtual threads kept in a pool",
    source: include_str!("pooled_virtual_threads.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    if !site.event.context.has(Context::COUNTED) {
        return None;
    }
    let takes_jobs = site.spawned().any(|body| {
        let events = site.graph.bodies[body as usize].events.iter();
        let mut events = events.filter(|event| event.context.has(Context::LOOP));
        events.any(|event| match &event.what {
            What::Parks(_, label, _) | What::Blocks(_, label) => {
                matches!(
                    label.as_str(),
                    "receives from a channel" | "waits for the next item"
                )
            }
            _ => false,
        })
    });
    if !takes_jobs {
        return None;
    }
    let message = "virtual threads are kept in a pool".to_owned();
    let mut finding = site.finding(&RULE, message, "each of these waits for jobs", None);
    finding
        .notes
        .push("virtual threads are cheap: a pool of them only limits how much runs at once".into());
    finding.help.push(
        "spawn a virtual thread for each job, and limit what is scarce with a `vt_runtime::sync::Semaphore`"
            .into(),
    );
    Some(finding)
}
