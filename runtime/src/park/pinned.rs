//! The pinned wait: the carrier blocks with its thread, goes on driving timers, I/O and wakes for others,
//! and reports the wait once, at its end.

use std::sync::Arc;

use super::record::Record;
use super::word::Place;
use super::{Wait, spans};
use crate::carrier::{Local, OpenPin};
use crate::event::{self, PinSource, RawPinned, WaitOutcome};
use crate::pin::Effective;
use crate::primitive::Ordering;

/// Blocks the carrier until the wait ends, and reports it if it took at least the threshold.
pub(super) fn hold(
    carrier: &Local,
    record: &Arc<Record>,
    epoch: u64,
    wait: &Wait,
    pin: &Effective,
) {
    if record.word.settle(epoch, Place::Held).is_err() {
        return;
    }
    let start = event::now();
    record.pinned_since.store(start.0, Ordering::Relaxed);
    let open = OpenPin {
        record: Arc::clone(record),
        pin: *pin,
        start,
    };
    let stranded = carrier.drive_while_pinned(open, || record.word.ended().is_none());
    record.pinned_since.store(0, Ordering::Relaxed);
    let end = event::now();
    let hub = carrier.hub();
    let took = end.0.saturating_sub(start.0);
    carrier
        .shared()
        .counters
        .count_pinned(pin.outermost.reason, took);
    if took < hub.threshold_ns() {
        return;
    }
    let stack = super::stack::capture();
    hub.pinned(
        carrier.id(),
        &RawPinned {
            thread: record.id,
            name: record.name.as_deref(),
            reason: pin.outermost.reason,
            operation: wait.operation,
            start,
            end,
            pinned_at: pin.outermost.at,
            blocked_at: Some(wait.at),
            lock: pin.outermost.subject,
            waits_for: wait.subject,
            waits_owner: wait.owner,
            native: pin.native,
            depth: pin.depth,
            stranded: stranded.threads,
            stranded_ns: stranded.nanos,
            outcome: match record.word.ended() {
                Some(super::End::Timeout) => timeout_outcome(wait),
                Some(super::End::Interrupted | super::End::Cancelled) => WaitOutcome::Interrupted,
                Some(super::End::Done) | None => WaitOutcome::Done,
            },
            source: PinSource::Wait,
            span: spans::innermost(),
            stack: &stack,
        },
    );
}

/// A sleep that reaches its deadline has done what it was asked for.
fn timeout_outcome(wait: &Wait) -> WaitOutcome {
    if wait.operation == event::Operation::Sleep {
        WaitOutcome::Done
    } else {
        WaitOutcome::Timeout
    }
}
