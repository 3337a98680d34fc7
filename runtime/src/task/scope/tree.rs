//! Threads as a tree: who was spawned by whom, subtasks below the thread that forked them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::thread::ThreadInfo;

/// [`Runtime::threads`](crate::Runtime::threads) as a tree: each thread stands below the one that spawned it, so a scope's
/// subtasks stand below its owner. Displays one thread a line, with what it waits for and who has that.
///
/// ```
/// use vt_runtime::Runtime;
/// use vt_runtime::task::{TaskScope, ThreadTree};
///
/// let runtime = Runtime::builder().carriers(1).build()?;
/// let tree = runtime.run(|| {
///     TaskScope::collect(|s| {
///         s.spawn(|| Ok::<_, ()>(ThreadTree::new(Runtime::current().unwrap().threads()).to_string()));
///     })
/// });
/// let lines: Vec<_> = tree[0].as_ref().unwrap().lines().collect();
/// assert!(lines[1].starts_with("  #"), "{lines:?}");
/// # Ok::<(), vt_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ThreadTree {
    threads: BTreeMap<u64, ThreadInfo>,
}

impl ThreadTree {
    /// The tree of those threads. One whose parent is not among them, because it has ended, stands at the top.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn new(threads: impl IntoIterator<Item = ThreadInfo>) -> Self {
        let by_id = |thread: ThreadInfo| (thread.id.as_u64(), thread);
        Self {
            threads: threads.into_iter().map(by_id).collect(),
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, parent: Option<u64>, depth: usize) -> fmt::Result {
        let known = |id: &u64| self.threads.contains_key(id);
        let children: BTreeSet<u64> = self
            .threads
            .values()
            .filter(|thread| thread.parent.filter(known) == parent)
            .map(|thread| thread.id.as_u64())
            .collect();
        for id in children {
            let thread = &self.threads[&id];
            write!(
                f,
                "{:depth$}#{id} {} {}",
                "",
                thread.name,
                thread.state,
                depth = depth * 2
            )?;
            if let Some(carrier) = thread.carrier {
                write!(f, " @carrier-{carrier}")?;
            }
            if let Some(waits_for) = &thread.waits_for {
                write!(f, ", waits for {waits_for}")?;
            }
            if let Some(owner) = thread.waits_owner {
                write!(f, " of #{owner}")?;
            }
            writeln!(f)?;
            self.write(f, Some(id), depth + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for ThreadTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, None, 0)
    }
}
