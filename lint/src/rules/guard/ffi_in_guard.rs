//! Flags calls of foreign functions while a guard is alive.
//!
//! ## What it does
//! Reports calls of functions declared in an `extern` block, of `libc`, of crates named `*-sys` (through renames and
//! re-exports) and of those that configuration lists, while the guard of any lock is alive.
//!
//! ## Why
//! Nobody can see how long foreign code takes, and it may call back or wait. Everybody who wants the lock waits for the call, not only the caller. A virtual thread that holds a monitor cannot
//! unmount, so it keeps its carrier, and all virtual threads on that carrier stand still.
//!
//! ## What it cannot see
//! Whether the foreign function is quick. One that is, and is only guarded because its library is not thread-safe, deserves a
//! suppression with that reason.
//!
//! ## Example
//! ```rust,ignore
//! let fd = self.fd.lock().unwrap();
//! unsafe { libc::fsync(*fd) };
//! ```
//!
//! ## Use instead
//! ```rust,ignore
//! let fd = *self.fd.lock().unwrap();
//! unsafe { libc::fsync(fd) };
//! ```
//!
//! ## Runtime reason
//! `native` and `monitor`: a thread with a foreign frame on its stack cannot unmount, and holds the lock meanwhile.

use crate::diagnostic::{Finding, Level, RuleId};
use crate::rules::Rule;
use crate::rules::site::{Site, any_lock};

/// This rule's row.
pub const RULE: Rule = Rule {
    id: RuleId::new("ffi-in-guard"),
    level: Level::Warn,
    summary: "a foreign call under a guard",
    source: include_str!("ffi_in_guard.rs"),
};

/// Checks one event.
pub(crate) fn check(site: &Site<'_, '_>) -> Option<Finding> {
    let (name, _) = site.foreign()?;
    let held = site.held(any_lock)?;
    let message = format!(
        "foreign function `{name}` is called while the guard of `{}` is alive",
        held.guard.lock
    );
    let mut finding = site.finding(&RULE, message, "foreign code runs here", Some(&held));
    finding
        .notes
        .push("foreign code cannot unmount, and everybody who wants the lock waits for it".into());
    finding
        .help
        .push("copy what the call needs out of the guard and end the guard first".into());
    Some(finding)
}
