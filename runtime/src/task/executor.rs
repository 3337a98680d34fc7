//! [`Executor`]: a virtual thread for each task, and a limit on how many there are.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::runtime::{Runtime, SpawnError};
use crate::sync::Semaphore;
use crate::thread::{Builder, JoinHandle};

/// Starts a virtual thread for each task, at most `limit` at once: who submits more waits first.
///
/// Virtual threads cost little, but what they use (connections, memory, the peer's patience) does not, so the
/// limit is taken *before* a thread exists, and how long that took is shown by [`metrics`](Self::metrics).
///
/// ```
/// use vt_runtime::task::Executor;
///
/// let executor = Executor::per_task(2);
/// let handles: Vec<_> = (0..10).map(|n| executor.spawn(move || n * n)).collect();
/// let sum: i32 = handles.into_iter().map(|handle| handle.join().unwrap()).sum();
/// assert_eq!(sum, 285);
/// ```
pub struct Executor {
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
}

struct Shared {
    limit: u32,
    admission: Semaphore,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    admitted: u64,
    queued: Duration,
    longest: Duration,
}

/// What an [`Executor`] has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutorMetrics {
    /// Tasks that run now.
    pub running: u64,
    /// Threads that wait to submit one.
    pub waiting: usize,
    /// Tasks admitted so far.
    pub admitted: u64,
    /// The time that all of them waited for admission, in sum.
    pub queued: Duration,
    /// The longest such wait.
    pub longest_queued: Duration,
}

impl Executor {
    /// At most `limit` tasks at once, on the current runtime of each submission.
    ///
    /// # Pinning
    ///
    /// Never waits.
    ///
    /// # Panics
    ///
    /// If `limit` is 0: nothing could ever run.
    #[must_use]
    pub fn per_task(limit: u32) -> Self {
        assert!(
            limit > 0,
            "an executor with a limit of 0 tasks would run nothing"
        );
        let admission = Semaphore::bounded(limit);
        let shared = Shared {
            limit,
            admission,
            counts: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            runtime: None,
        }
    }

    /// Runs its tasks on that runtime.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn on(mut self, runtime: &Runtime) -> Self {
        self.runtime = Some(runtime.clone());
        self
    }

    /// Starts a thread for `f`, waiting until it is admitted. An interrupt does not end the wait.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned.
    ///
    /// # Panics
    ///
    /// If the runtime refuses the thread; [`try_spawn`](Self::try_spawn) tells.
    #[track_caller]
    pub fn spawn<T, F>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match self.try_spawn(Builder::new(), f) {
            Ok(handle) => handle,
            Err(error) => panic!("failed to spawn a virtual thread: {error}"),
        }
    }

    /// [`spawn`](Self::spawn) with a name, a stack size or a place.
    ///
    /// # Pinning
    ///
    /// As `spawn`.
    ///
    /// # Errors
    ///
    /// If the runtime refuses the thread.
    #[track_caller]
    pub fn try_spawn<T, F>(&self, builder: Builder, f: F) -> Result<JoinHandle<T>, SpawnError>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let since = Instant::now();
        self.shared.admission.acquire().forget();
        self.shared.count(since.elapsed());
        // Given back at the end of the thread, or here if there is none.
        let admitted = Admitted {
            shared: Arc::clone(&self.shared),
        };
        let task = move || {
            let _admitted = admitted;
            f()
        };
        match &self.runtime {
            Some(runtime) => builder.spawn_in(runtime, task),
            None => builder.spawn(task),
        }
    }

    /// Starts a thread for `f`, whose result nobody wants.
    ///
    /// # Pinning
    ///
    /// As [`spawn`](Self::spawn).
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn execute<F: FnOnce() + Send + 'static>(&self, f: F) {
        drop(self.spawn(f));
    }

    /// Waits until no task runs.
    ///
    /// # Pinning
    ///
    /// Unmounts while it waits, unless the thread is pinned.
    #[track_caller]
    pub fn wait_idle(&self) {
        drop(self.shared.admission.acquire_many(self.shared.limit));
    }

    /// What it has done so far.
    ///
    /// # Pinning
    ///
    /// Never waits.
    #[must_use]
    pub fn metrics(&self) -> ExecutorMetrics {
        let free = self.shared.admission.available_permits();
        let counts = self.shared.counts.lock();
        ExecutorMetrics {
            running: u64::from(self.shared.limit).saturating_sub(free),
            waiting: self.shared.admission.waiting(),
            admitted: counts.admitted,
            queued: counts.queued,
            longest_queued: counts.longest,
        }
    }
}

impl Shared {
    fn count(&self, queued: Duration) {
        let mut counts = self.counts.lock();
        counts.admitted += 1;
        counts.queued += queued;
        counts.longest = counts.longest.max(queued);
    }
}

/// The place of one task; given back when dropped.
struct Admitted {
    shared: Arc<Shared>,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.shared.admission.add_permits(1);
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("limit", &self.shared.limit)
            .finish_non_exhaustive()
    }
}
