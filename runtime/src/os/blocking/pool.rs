//! The offload pool: a bounded number of OS threads, started by need, for work that blocks.
//!
//! **Invariant (nothing lost):** a job that was taken in is run, whatever happens: the queue is unbounded, no thread
//! ends while it holds jobs, and a job is refused, back to its owner, only if there is no thread at all and none
//! can be started.

use std::collections::VecDeque;
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tracing::Dispatch;

use crate::current;
use crate::event::{self, Event, Operation, ThreadRef, WaitOutcome, clock};
use crate::park::{self, Wait, Waiter};
use crate::runtime::OffloadMetrics;

/// How long a thread of the pool waits for work before it ends.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// With a threshold of zero too, a shorter wait for a thread is nothing to report.
const SHORTEST_REPORTED: Duration = Duration::from_millis(1);

/// See the module's documentation.
pub(crate) struct Pool {
    state: Mutex<State>,
    work: Condvar,
    most: usize,
    dispatch: Option<Dispatch>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    threads: usize,
    idle: usize,
    started: usize,
    closed: bool,
    finished: u64,
    queue_time: Duration,
    longest_queue_time: Duration,
}

/// Work, and who waits for it.
pub(crate) struct Job {
    body: Option<Box<dyn FnOnce() + Send>>,
    completion: Arc<Completion>,
    queued: event::Timestamp,
}

/// The end of one job.
#[derive(Default)]
pub(crate) struct Completion(Mutex<Ended>);

#[derive(Default)]
struct Ended {
    ended: bool,
    waiter: Option<Waiter>,
    queued: Duration,
}

impl Job {
    /// `body` must not panic.
    pub(crate) fn new(body: Box<dyn FnOnce() + Send>) -> (Self, Arc<Completion>) {
        let completion = Arc::<Completion>::default();
        let job = Self {
            body: Some(body),
            completion: Arc::clone(&completion),
            queued: event::now(),
        };
        (job, completion)
    }

    pub(crate) fn run(mut self) {
        if let Some(body) = self.body.take() {
            body();
        }
    }
}

impl Drop for Job {
    /// Only now, when the body is gone with all it borrows, does its owner go on.
    fn drop(&mut self) {
        drop(self.body.take());
        let waiter = {
            let mut end = self.completion.0.lock();
            end.ended = true;
            end.waiter.take()
        };
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

impl Completion {
    /// Returns when the job is gone. Lends: nothing else ends this wait.
    pub(crate) fn wait_lending(&self, at: &'static Location<'static>) {
        while let Some(waiter) = self.waiter(park::prepare_lending()) {
            park::wait_lending(waiter, &Wait::new(Operation::Blocking, at));
        }
        self.report_queueing();
    }

    /// Returns when the job is gone, or with false if the waiting thread was interrupted first.
    pub(super) fn wait_interruptibly(&self, at: &'static Location<'static>) -> bool {
        while let Some(waiter) = self.waiter(park::prepare()) {
            let wait = Wait {
                interruptible: true,
                ..Wait::new(Operation::Blocking, at)
            };
            if park::wait(waiter, &wait) == WaitOutcome::Interrupted {
                return false;
            }
        }
        self.report_queueing();
        true
    }

    /// `OffloadQueued`, if the job waited for a thread for long.
    fn report_queueing(&self) {
        let queued = self.0.lock().queued;
        if queued < SHORTEST_REPORTED {
            return;
        }
        let Some(carrier) = current::carrier() else {
            return;
        };
        if clock::nanos(queued) < carrier.hub().threshold_ns() {
            return;
        }
        let sender = current::record();
        carrier.hub().report(Event::OffloadQueued {
            thread: ThreadRef {
                id: sender.id,
                name: sender.display_name(),
            },
            queued,
            max: carrier.shared().offload.most as u64,
        });
    }

    /// Lets `waiter` wait for the end; `None` if it has come.
    fn waiter(&self, waiter: Waiter) -> Option<Waiter> {
        let mut end = self.0.lock();
        if end.ended {
            return None;
        }
        end.waiter = Some(waiter.clone());
        Some(waiter)
    }
}

impl Pool {
    /// A pool of at most `most` threads, whose default subscriber is `dispatch`.
    pub(crate) fn new(most: usize, dispatch: Option<Dispatch>) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            work: Condvar::new(),
            most,
            dispatch,
        })
    }

    /// Takes a job in.
    ///
    /// # Errors
    ///
    /// The job, if there is no thread to run it and none can be started.
    pub(crate) fn submit(self: &Arc<Self>, job: Job) -> Result<(), (Job, io::Error)> {
        let mut state = self.state.lock();
        state.queue.push_back(job);
        if state.idle >= state.queue.len() {
            self.work.notify_one();
            return Ok(());
        }
        if state.threads < self.most
            && let Err(error) = self.start_thread(&mut state)
            && state.threads == 0
            && let Some(job) = state.queue.pop_back()
        {
            return Err((job, error));
        }
        Ok(())
    }

    fn start_thread(self: &Arc<Self>, state: &mut State) -> io::Result<()> {
        let pool = Arc::clone(self);
        std::thread::Builder::new()
            .name(format!("vt-offload-{}", state.started))
            .spawn(move || {
                let _default = pool.dispatch.as_ref().map(tracing::dispatcher::set_default);
                pool.work();
            })?;
        state.started += 1;
        state.threads += 1;
        Ok(())
    }

    fn work(&self) {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.queue.pop_front() {
                let waited = event::now().0.saturating_sub(job.queued.0);
                let waited = Duration::from_nanos(waited);
                // vt-lint: allow(nested-lock) -- always in this order, and the job's own lock is held for a few instructions
                job.completion.0.lock().queued = waited;
                state.queue_time += waited;
                state.longest_queue_time = state.longest_queue_time.max(waited);
                drop(state);
                job.run();
                state = self.state.lock();
                state.finished += 1;
                continue;
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            let timed_out = self.work.wait_for(&mut state, KEEP_ALIVE).timed_out();
            state.idle -= 1;
            if timed_out && state.queue.is_empty() {
                break;
            }
        }
        state.threads -= 1;
    }

    /// The runtime ends: threads without work end at once. What still comes is done all the same.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.work.notify_all();
    }

    pub(crate) fn metrics(&self) -> OffloadMetrics {
        let state = self.state.lock();
        OffloadMetrics {
            threads: state.threads,
            max_threads: self.most,
            idle: state.idle,
            queued: state.queue.len(),
            finished: state.finished,
            queue_time: state.queue_time,
            longest_queue_time: state.longest_queue_time,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn jobs_beyond_the_limit_wait_and_none_is_lost() {
        let pool = Pool::new(2, None);
        let (sender, receiver) = mpsc::channel();
        let mut completions = Vec::new();
        for number in 0..50 {
            let sender = sender.clone();
            let (job, completion) = Job::new(Box::new(move || {
                sender.send(number).expect("the test listens");
            }));
            assert!(pool.submit(job).is_ok(), "a thread can be started");
            completions.push(completion);
        }
        drop(sender);
        for completion in completions {
            completion.wait_lending(Location::caller());
        }
        let mut numbers: Vec<_> = receiver.iter().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..50).collect::<Vec<_>>());
        let metrics = pool.metrics();
        assert!(metrics.threads <= 2);
        assert!(metrics.longest_queue_time <= metrics.queue_time);
        pool.close();
    }

    #[test]
    fn a_job_that_is_dropped_ends_its_owners_wait() {
        let (job, completion) = Job::new(Box::new(|| {}));
        drop(job);
        completion.wait_lending(Location::caller());
    }
}
