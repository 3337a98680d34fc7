//! The pinned wait: the carrier blocks with its thread, goes on driving timers, I/O and wakes for others,
//! and reports the wait once, at its end.

use std::sync::Arc;

use super::record::Record;
use super::word::{Allow, End, Place};
use super::{Wait, spans};
use crate::carrier::current;
use crate::carrier::{Local, OpenPin, Stranded};
use crate::event::{self, Cost, Operation, PinSource, RawPinned, Timestamp, WaitOutcome};
use crate::pin::{self, Effective};
use crate::primitive::Ordering;

/// The pinned waits of one operation, taken together: an operation that has to wait several times (for a lock
/// that others won) is one pin for its user.
#[derive(Default)]
pub(crate) struct Spell {
    waited: Option<Waited>,
}

struct Waited {
    start: Timestamp,
    end: Timestamp,
    pin: Effective,
    stranded: Stranded,
    outcome: End,
}

/// Blocks the carrier until the wait ends.
///
/// Out of line: its frame is large, and part of the stack of each thread that waits otherwise.
#[inline(never)]
pub(super) fn hold(
    carrier: &Local,
    record: &Arc<Record>,
    (epoch, allow): (u64, Allow),
    spell: &mut Spell,
) {
    let Some(pin) = pin::effective() else {
        unreachable!("the caller is pinned")
    };
    if record.word.settle(epoch, Place::Held, allow).is_err() {
        return;
    }
    record.end_if_asked(epoch, allow);
    let began = event::now();
    let (start, pin, before) = match &spell.waited {
        Some(waited) => (waited.start, waited.pin, waited.stranded),
        None => (began, pin, Stranded::default()),
    };
    record.pinned.store(true, Ordering::Relaxed);
    let open = OpenPin {
        record: Arc::clone(record),
        pin,
        start,
    };
    let stranded = carrier.drive_while_pinned(open, began, || record.word.ended().is_none());
    record.pinned.store(false, Ordering::Relaxed);
    spell.waited = Some(Waited {
        start,
        end: event::now(),
        pin,
        stranded: Stranded {
            threads: stranded.threads.max(before.threads),
            nanos: stranded.nanos + before.nanos,
        },
        outcome: record.word.ended().unwrap_or(End::Done),
    });
}

impl Spell {
    /// At the end of the operation: reports it if it was pinned for at least the threshold.
    #[inline]
    pub(crate) fn report(&mut self, wait: &Wait) {
        // Most operations were not pinned, and many did not even wait.
        if self.waited.is_some() && !cfg!(vt_detector_off) {
            self.report_waited(wait);
        }
    }

    #[cold]
    fn report_waited(&mut self, wait: &Wait) {
        let (Some(waited), Some(carrier)) = (self.waited.take(), current::carrier()) else {
            return;
        };
        let record = current::record();
        let hub = carrier.hub();
        let took = waited.end.0.saturating_sub(waited.start.0);
        carrier.face().pins.count(waited.pin.outermost.reason, took);
        let pinned_at = waited.pin.outermost.at;
        let cost = Cost {
            pinned_at,
            blocked_at: Some(wait.at),
            reason: waited.pin.outermost.reason,
            holder: waited.pin.outermost.subject,
            nanos: took,
            stranded_ns: waited.stranded.nanos,
        };
        hub.spent(carrier.id(), &cost);
        if took < hub.threshold_ns() {
            return;
        }
        let stack = super::stack::at_end(carrier.face(), waited.start, hub.stack_depth());
        hub.pinned(
            carrier.id(),
            &RawPinned {
                thread: record.id,
                name: record.name.as_deref(),
                reason: waited.pin.outermost.reason,
                operation: wait.operation,
                start: waited.start,
                end: waited.end,
                pinned_at,
                blocked_at: Some(wait.at),
                lock: waited.pin.outermost.subject,
                waits_for: wait.subject,
                waits_owner: wait.owner,
                native: waited.pin.native,
                depth: waited.pin.depth,
                stranded: waited.stranded.threads,
                stranded_ns: waited.stranded.nanos,
                outcome: outcome(waited.outcome, wait),
                source: PinSource::Wait,
                span: spans::innermost(),
                stack: &stack,
            },
        );
    }
}

fn outcome(end: End, wait: &Wait) -> WaitOutcome {
    match end {
        // A sleep that reaches its deadline has done what it was asked for.
        End::Timeout if wait.operation == Operation::Sleep => WaitOutcome::Done,
        End::Timeout => WaitOutcome::Timeout,
        End::Interrupted | End::Cancelled => WaitOutcome::Interrupted,
        End::Done | End::Deadlock => WaitOutcome::Done,
    }
}
