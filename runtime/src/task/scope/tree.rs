//! Threads as a tree: who was spawned by whom, subtasks below the thread that forked them.

use std::collections::BTreeMap;
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

    /// Each thread's children in the order of their ids; those at the top stand under `None`.
    fn children(&self) -> BTreeMap<Option<u64>, Vec<u64>> {
        let mut children = BTreeMap::<_, Vec<_>>::new();
        for (id, thread) in &self.threads {
            let parent = thread.parent.filter(|id| self.threads.contains_key(id));
            children.entry(parent).or_default().push(*id);
        }
        children
    }
}

fn write_thread(f: &mut fmt::Formatter<'_>, thread: &ThreadInfo, depth: usize) -> fmt::Result {
    let (id, indent) = (thread.id.as_u64(), depth * 2);
    write!(f, "{:indent$}#{id} {} {}", "", thread.name, thread.state)?;
    if let Some(carrier) = thread.carrier {
        write!(f, " @carrier-{carrier}")?;
    }
    if let Some(waits_for) = &thread.waits_for {
        write!(f, ", waits for {waits_for}")?;
    }
    if let Some(owner) = thread.waits_owner {
        write!(f, " of #{owner}")?;
    }
    writeln!(f)
}

impl fmt::Display for ThreadTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut children = self.children();
        let mut below = |id, depth| {
            let ids = children.remove(&id).unwrap_or_default();
            ids.into_iter().rev().map(move |id| (id, depth))
        };
        // Not by recursion: threads may be nested deeper than a small stack allows.
        let mut next: Vec<(u64, usize)> = below(None, 0).collect();
        while let Some((id, depth)) = next.pop() {
            write_thread(f, &self.threads[&id], depth)?;
            next.extend(below(Some(id), depth + 1));
        }
        Ok(())
    }
}
