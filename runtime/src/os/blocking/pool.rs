//! The offload pool: a bounded number of OS threads, started by need, for work that blocks.
//!
//! **Invariant (nothing lost):** a job that was taken in is run, whatever happens: the queue is unbounded, no thread
//! ends while it holds jobs, and a job is refused, back to its owner, only if there is no thread at all and none
//! can be started.
//!
//! **Invariant (room):** work that may never end, such as a question to a name server that does not answer, has at most
//! half of the threads, so that it never keeps the rest of the work from being done.

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
    /// Jobs of unknown length, and how many of those are being done.
    endless: VecDeque<Job>,
    enduring: usize,
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
    length: Length,
    completion: Arc<Completion>,
    queued: event::Timestamp,
}

/// How long a job may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// As long as its owner waits for it, who has no choice.
    Bounded,
    /// Perhaps for ever: its owner may leave it behind.
    Unbounded,
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
    pub(crate) fn new(body: Box<dyn FnOnce() + Send>, length: Length) -> (Self, Arc<Completion>) {
        let completion = Arc::<Completion>::default();
        let job = Self {
            body: Some(body),
            length,
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

impl State {
    fn queue_for(&mut self, length: Length) -> &mut VecDeque<Job> {
        match length {
            Length::Bounded => &mut self.queue,
            Length::Unbounded => &mut self.endless,
        }
    }

    /// Jobs of unknown length that may begin now.
    fn admitted(&self, most: usize) -> usize {
        let room = (most / 2).max(1).saturating_sub(self.enduring);
        self.endless.len().min(room)
    }

    /// Jobs that a thread could begin now.
    fn startable(&self, most: usize) -> usize {
        self.queue.len() + self.admitted(most)
    }

    /// Takes the job that has waited longest of those that may begin.
    fn next(&mut self, most: usize) -> Option<Job> {
        let first = |queue: &VecDeque<Job>| queue.front().map(|job| job.queued.0);
        let bounded = first(&self.queue);
        let endless = first(&self.endless).filter(|_| self.admitted(most) > 0);
        if endless.is_some_and(|endless| bounded.is_none_or(|bounded| endless < bounded)) {
            self.enduring += 1;
            self.endless.pop_front()
        } else {
            self.queue.pop_front()
        }
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
        let length = job.length;
        state.queue_for(length).push_back(job);
        if state.idle >= state.startable(self.most) {
            self.work.notify_one();
            return Ok(());
        }
        if state.threads < self.most
            && let Err(error) = self.start_thread(&mut state)
            && state.threads == 0
            && let Some(job) = state.queue_for(length).pop_back()
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
            if let Some(job) = state.next(self.most) {
                let length = job.length;
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
                state.enduring -= usize::from(length == Length::Unbounded);
                continue;
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            let timed_out = self.work.wait_for(&mut state, KEEP_ALIVE).timed_out();
            state.idle -= 1;
            if timed_out && state.startable(self.most) == 0 {
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
            queued: state.queue.len() + state.endless.len(),
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
            let (job, completion) = Job::new(
                Box::new(move || {
                    sender.send(number).expect("the test listens");
                }),
                Length::Bounded,
            );
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
    fn work_that_never_ends_leaves_room_for_the_rest() {
        let pool = Pool::new(4, None);
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let mut completions = Vec::new();
        let mut submit = |length, body: Box<dyn FnOnce() + Send>| {
            let (job, completion) = Job::new(body, length);
            assert!(pool.submit(job).is_ok(), "a thread can be started");
            completions.push(Arc::clone(&completion));
            completion
        };
        for _ in 0..20 {
            let released = Arc::clone(&released);
            let never = move || assert!(released.lock().recv().is_err());
            submit(Length::Unbounded, Box::new(never));
        }
        // Half of the threads take what never ends, the others all that comes behind it.
        for _ in 0..20 {
            submit(Length::Bounded, Box::new(|| {})).wait_lending(Location::caller());
        }
        assert_eq!(pool.metrics().queued, 18);
        assert!(pool.metrics().threads <= 4);
        drop(release);
        for completion in completions {
            completion.wait_lending(Location::caller());
        }
        pool.close();
    }

    #[test]
    fn a_job_that_is_dropped_ends_its_owners_wait() {
        let (job, completion) = Job::new(Box::new(|| {}), Length::Bounded);
        drop(job);
        completion.wait_lending(Location::caller());
    }
}
