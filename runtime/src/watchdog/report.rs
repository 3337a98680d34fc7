//! Turns what the watchdog saw into events.

use std::sync::Arc;
use std::time::Duration;

use super::procfs::Syscall;
use super::sample::{Block, Stay, Watch};
use super::{stack, syscalls};
use crate::carrier::{Carrier, OpenNative, OpenPin};
use crate::event::{
    self, Event, Operation, PinReason, PinSource, Pinned, RawPinned, Stalled, ThreadRef, Timestamp,
    WaitOutcome,
};
use crate::primitive::Ordering;
use crate::runtime::Shared;

/// Undeclared blocking has ended.
pub(super) fn sampled_end(shared: &Shared, carrier: &Carrier, thread: u64, block: &Block) {
    let raw = of_block(shared, carrier, thread, block);
    shared.counters.count_undeclared(block.nanos());
    shared
        .hub
        .spent_undeclared(carrier.id, &block.stack, block.nanos());
    report(shared, carrier, &raw, |pin| {
        Event::VirtualThreadPinned(awaiting(pin, block))
    });
}

/// Undeclared blocking lasts.
pub(super) fn live_block(shared: &Shared, carrier: &Carrier, thread: u64, block: &Block) {
    let raw = of_block(shared, carrier, thread, block);
    report(shared, carrier, &raw, |pin| {
        Event::VirtualThreadPinnedLive(awaiting(pin, block))
    });
}

fn awaiting(pin: Pinned, block: &Block) -> Pinned {
    Pinned {
        waits_for: block.awaited.clone(),
        ..pin
    }
}

/// A pinned wait lasts.
pub(super) fn live_pin(
    shared: &Shared,
    carrier: &Carrier,
    open: &OpenPin,
    stack: &[u64],
    now: u64,
) {
    if let Some(raw) = of_pin(shared, carrier, open, now) {
        let raw = RawPinned { stack, ..raw };
        report(shared, carrier, &raw, Event::VirtualThreadPinnedLive);
    }
}

/// A declared foreign call lasts.
pub(super) fn live_native(
    shared: &Shared,
    carrier: &Carrier,
    thread: u64,
    call: &OpenNative,
    stack: &[u64],
    now: u64,
) {
    let name = shared.name_of(thread);
    let raw = of_native(shared, carrier, thread, name.as_deref(), call, now);
    let raw = RawPinned { stack, ..raw };
    report(shared, carrier, &raw, Event::VirtualThreadPinnedLive);
}

/// Pinned waits and declared foreign calls that last, whatever their length.
pub(crate) fn open(shared: &Shared) -> Vec<Pinned> {
    let now = event::now().0;
    let mut pins = Vec::new();
    for carrier in shared.carriers() {
        if let Some(open) = carrier.open_pin() {
            let raw = of_pin(shared, carrier, &open, now);
            pins.extend(raw.map(|raw| shared.hub.describe(carrier.id, &raw)));
        } else if let Some(call) = carrier.open_native() {
            let thread = carrier.mounted.load(Ordering::Relaxed);
            let name = shared.name_of(thread);
            let raw = of_native(shared, carrier, thread, name.as_deref(), &call, now);
            pins.push(shared.hub.describe(carrier.id, &raw));
        }
    }
    pins
}

fn of_pin<'a>(
    shared: &Shared,
    carrier: &Carrier,
    open: &'a OpenPin,
    now: u64,
) -> Option<RawPinned<'a>> {
    let waiting = open.record.waiting()?;
    Some(RawPinned {
        name: open.record.name.as_deref(),
        reason: open.pin.outermost.reason,
        operation: waiting.operation,
        pinned_at: open.pin.outermost.at,
        blocked_at: Some(waiting.at),
        lock: open.pin.outermost.subject,
        waits_for: waiting.subject,
        waits_owner: waiting.owner,
        native: open.pin.native,
        depth: open.pin.depth,
        source: PinSource::Wait,
        ..blank(shared, carrier, open.record.id, open.start, now)
    })
}

fn of_native<'a>(
    shared: &Shared,
    carrier: &Carrier,
    thread: u64,
    name: Option<&'a str>,
    call: &OpenNative,
    now: u64,
) -> RawPinned<'a> {
    RawPinned {
        name,
        pinned_at: Some(call.at),
        blocked_at: Some(call.at),
        native: Some(call.label),
        source: PinSource::Declared,
        ..blank(shared, carrier, thread, call.start, now)
    }
}

/// A carrier has not come to a wait for long.
pub(super) fn stall(shared: &Shared, carrier: &Carrier, thread: u64, stay: &Stay, elapsed: u64) {
    let call = stay.block.as_ref().and_then(call_of);
    shared.hub.report(Event::CarrierStalled(Stalled {
        carrier: carrier.id as u64,
        thread: ThreadRef {
            id: thread,
            name: shared.name_of(thread).unwrap_or_default(),
        },
        state: stay.state,
        stranded: stranded(shared, carrier),
        elapsed: Duration::from_nanos(elapsed),
        native: call.map(Arc::from),
        stack: stay
            .block
            .as_ref()
            .map(|block| block.stack.clone())
            .unwrap_or_default(),
    }));
}

/// The stack of a thread that sits in `call`, as far as it can be told; empty if it goes on meanwhile.
pub(super) fn stack_of(
    shared: &Shared,
    thread: u64,
    watch: &Watch,
    call: Option<Syscall>,
) -> Vec<u64> {
    let record = shared.find(thread);
    let bounds = record
        .as_ref()
        .and_then(|record| record.as_virtual()?.stack());
    let depth = shared.hub.stack_depth();
    bounds
        .zip(call)
        .and_then(|(bounds, call)| {
            watch.while_it_sits(&call, || stack::of_blocked(&bounds, &call, depth))
        })
        .unwrap_or_default()
}

fn of_block<'a>(
    shared: &Shared,
    carrier: &Carrier,
    thread: u64,
    block: &'a Block,
) -> RawPinned<'a> {
    RawPinned {
        name: block.name.as_deref(),
        native: call_of(block),
        source: PinSource::Sampled,
        stack: &block.stack,
        ..blank(shared, carrier, thread, Timestamp(block.since), block.until)
    }
}

fn call_of(block: &Block) -> Option<&'static str> {
    syscalls::name(block.call?.number)
}

/// A foreign call by that thread, of which nothing else is known.
fn blank(
    shared: &Shared,
    carrier: &Carrier,
    thread: u64,
    start: Timestamp,
    now: u64,
) -> RawPinned<'static> {
    RawPinned {
        thread,
        name: None,
        reason: PinReason::Native,
        operation: Operation::NativeCall,
        start,
        end: Timestamp(now),
        pinned_at: None,
        blocked_at: None,
        lock: None,
        waits_for: None,
        waits_owner: 0,
        native: None,
        depth: 1,
        stranded: stranded(shared, carrier),
        stranded_ns: 0,
        outcome: WaitOutcome::Done,
        source: PinSource::Sampled,
        span: None,
        stack: &[],
    }
}

/// Threads that wait for this carrier, as far as can be seen from outside: a lower bound.
fn stranded(shared: &Shared, carrier: &Carrier) -> u32 {
    let mut count = carrier.stranded_now();
    if !shared.another_can_take(carrier.id) {
        count += shared.unstarted();
    }
    // A timer that is due or readiness that nobody collects stands for at least one thread each.
    count += usize::from(carrier.has_due_timer()) + usize::from(carrier.driver.has_pending());
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn report(
    shared: &Shared,
    carrier: &Carrier,
    raw: &RawPinned<'_>,
    event: impl FnOnce(Pinned) -> Event,
) {
    shared
        .hub
        .report(event(shared.hub.describe(carrier.id, raw)));
}
