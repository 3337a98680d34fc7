//! A bounded end: wait, cancel, report. Nothing that still runs is ever freed.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Shared;
use crate::carrier::Status;
use crate::current;
use crate::event::Operation;
use crate::park::{self, Record, Wait};
use crate::thread::{Dump, ThreadInfo, ThreadState};

/// How long cancelled threads may take to unwind, as a share of the caller's limit and at least this.
const LEAST_UNWINDING: Duration = Duration::from_millis(50);
/// How long the subscribers may take for the last events, as with `Runtime::flush_events`.
const MOST_FLUSHING: Duration = Duration::from_secs(5);

/// How each thread that was live when the shutdown began has ended, or why it has not.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Ended by themselves within the limit.
    pub finished: Vec<ThreadInfo>,
    /// Unwound at a wait, or dropped before they began; their destructors ran.
    pub cancelled: Vec<ThreadInfo>,
    /// Still there: they swallowed the cancellation, or never came to a wait. Their stacks are leaked.
    pub refused: Vec<ThreadInfo>,
    /// Still there: they wait while others use memory of theirs.
    pub lending: Vec<ThreadInfo>,
    /// Still there: a foreign call is on their stack.
    pub native: Vec<ThreadInfo>,
}

impl ShutdownReport {
    /// Has every thread ended?
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.refused.is_empty() && self.lending.is_empty() && self.native.is_empty()
    }
}

pub(super) fn shut_down(shared: &Arc<Shared>, limit: Duration) -> ShutdownReport {
    let own = current::id();
    // Before the records are read: a thread found there takes itself out later, and so sees that somebody waits.
    shared.stop();
    let records: Vec<_> = shared
        .records()
        .into_iter()
        .filter(|record| record.id != own)
        .collect();
    // Taken now: a thread's name and carrier are gone with its record.
    let mut dump = Dump::new();
    let infos: Vec<_> = records.iter().map(|record| dump.entry(record)).collect();
    // A limit past what the clock can say is none.
    if !wait_for_ends(shared, &records, Instant::now().checked_add(limit)) {
        // Those that have not begun first: another's end is not to let them begin.
        let (begun, unstarted): (Vec<_>, Vec<_>) = records
            .iter()
            .filter(|record| !record.has_ended())
            .partition(|record| ThreadState::of(record) != ThreadState::New);
        for record in unstarted.into_iter().chain(begun) {
            record.cancel();
        }
        wait_for_ends(
            shared,
            &records,
            Instant::now().checked_add((limit / 2).max(LEAST_UNWINDING)),
        );
    }
    shared.flush_events((limit / 10).clamp(LEAST_UNWINDING, MOST_FLUSHING));
    let mut report = ShutdownReport::default();
    for (record, info) in records.iter().zip(infos) {
        sort_in(shared, record, info, &mut report);
    }
    report
}

fn sort_in(shared: &Shared, record: &Arc<Record>, before: ThreadInfo, report: &mut ShutdownReport) {
    let is_refused = shared
        .refused
        .lock()
        .iter()
        .any(|refused| refused.id == record.id);
    if record.has_ended() && !is_refused {
        let list = if record.was_cancelled() {
            &mut report.cancelled
        } else {
            &mut report.finished
        };
        list.push(before);
        return;
    }
    let now = ThreadInfo::of(record);
    let in_native = record.home().is_some_and(|home| {
        let carrier = shared.carrier(home);
        let mounted = carrier.mounted.load(crate::primitive::Ordering::Relaxed) == record.id;
        mounted && (carrier.status() == Status::Native || carrier.open_native().is_some())
    });
    let list = if in_native {
        &mut report.native
    } else if record.waiting().is_some_and(|waiting| waiting.lends) {
        &mut report.lending
    } else {
        &mut report.refused
    };
    list.push(now);
}

/// Waits until all have ended; false at the deadline.
fn wait_for_ends(shared: &Shared, records: &[Arc<Record>], deadline: Option<Instant>) -> bool {
    loop {
        let waiter = park::prepare_lending();
        shared.watching_ends.lock().push(waiter.clone());
        if records.iter().all(|record| record.has_ended()) {
            return true;
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return false;
        }
        let mut wait = Wait::new(Operation::Join, Location::caller());
        wait.deadline = deadline;
        park::wait_lending(waiter, &wait);
    }
}
