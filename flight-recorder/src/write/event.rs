//! The mapping from the runtime's events to a recording's: the table in `vt_runtime::event`, as code.

use std::io::Write;
use std::sync::Arc;

use vt_runtime::event::{
    Compensation, Deadlock, Event, Operation, Pinned, Recorded, Stalled, ThreadRef, UNKNOWN,
};

use super::ChunkWriter;
use super::row::Cell::{Key, Long, Pooled, Text};

/// Appends the record or records of one event.
pub(super) fn put<W: Write>(chunk: &mut ChunkWriter<W>, recorded: &Recorded) {
    let at = recorded.at.0;
    match &recorded.event {
        Event::VirtualThreadPinned(pinned) => put_pinned(chunk, pinned),
        Event::VirtualThreadPinnedLive(pinned) => put_live(chunk, at, pinned),
        Event::PinnedDeadlock(deadlock) => put_deadlock(chunk, at, deadlock),
        Event::CarrierStalled(stalled) => put_stalled(chunk, at, stalled),
        Event::CarrierCompensated(facts) => {
            put_compensation(chunk, "vt.CarrierCompensated", at, facts);
        }
        Event::CompensationExhausted(facts) => {
            put_compensation(chunk, "vt.CompensationExhausted", at, facts);
        }
        Event::NativeCall {
            thread,
            carrier,
            native,
            wall,
            state,
        } => {
            let thread = chunk.thread(thread.id, &thread.name);
            let carrier = chunk.carrier(*carrier);
            let wall = nanos(*wall);
            chunk.row(
                "vt.NativeCall",
                &[
                    Long(at.saturating_sub(wall)),
                    Long(wall),
                    Key(thread),
                    Key(carrier),
                    text(native),
                    Text(Some(state.as_str())),
                ],
            );
        }
        Event::OffloadQueued {
            thread,
            queued,
            max,
        } => {
            let thread = chunk.thread(thread.id, &thread.name);
            let queued = nanos(*queued);
            chunk.row(
                "vt.OffloadQueued",
                &[
                    Long(at.saturating_sub(queued)),
                    Long(queued),
                    Key(thread),
                    Long(*max),
                ],
            );
        }
        Event::VirtualThreadSubmitFailed { cause, live, cap } => chunk.row(
            "jdk.VirtualThreadSubmitFailed",
            &[
                Long(at),
                Key(0),
                Key(0),
                Long(0),
                text(cause),
                Long(*live),
                Long(*cap),
            ],
        ),
        Event::VirtualThreadStart { thread, carrier } => {
            let (key, carrier) = (
                chunk.thread(thread.id, &thread.name),
                chunk.carrier(*carrier),
            );
            chunk.row(
                "jdk.VirtualThreadStart",
                &[Long(at), Key(key), Key(0), Long(thread.id), Key(carrier)],
            );
        }
        Event::VirtualThreadEnd { thread, carrier } => {
            let (key, carrier) = (
                chunk.thread(thread.id, &thread.name),
                chunk.carrier(*carrier),
            );
            chunk.row(
                "jdk.VirtualThreadEnd",
                &[Long(at), Key(key), Long(thread.id), Key(carrier)],
            );
        }
        // The pair's second half carries the duration: one record of the JDK's kind for both.
        Event::VirtualThreadPark { .. } => {}
        Event::VirtualThreadUnpark {
            thread,
            operation,
            parked,
        } => {
            put_park(chunk, at, thread, *operation, nanos(*parked));
        }
        Event::MonitorLeaked {
            thread,
            lock,
            pinned_at,
        } => {
            let thread = chunk.thread(thread.id, &thread.name);
            let place = chunk.place(pinned_at.as_ref());
            chunk.row(
                "vt.MonitorLeaked",
                &[Long(at), Key(thread), Text(lock.as_deref()), Pooled(place)],
            );
        }
        Event::EventsDropped { class, count } => {
            chunk.dropped(at, class.as_str(), *count, "rings");
        }
        // The schema may know more than this version stores: say so rather than drop it.
        other => chunk.dropped(at, other.name(), 1, "recorder"),
    }
}

impl<W: Write> ChunkWriter<W> {
    /// Appends a count of lost records.
    pub(crate) fn dropped(&mut self, at: u64, class: &str, count: u64, place: &str) {
        let cells = [Long(at), Text(Some(class)), Long(count), Text(Some(place))];
        self.row("vt.EventsDropped", &cells);
    }
}

fn put_pinned<W: Write>(chunk: &mut ChunkWriter<W>, pinned: &Pinned) {
    let thread = chunk.thread(pinned.thread.id, &pinned.thread.name);
    let carrier = chunk.carrier(pinned.carrier);
    let stack = chunk.stack(
        &pinned.stack,
        pinned.blocked_at.as_ref(),
        pinned.pinned_at.as_ref(),
    );
    let (pinned_at, blocked_at) = places(chunk, pinned);
    let span = chunk.span_of(pinned);
    let duration = nanos(pinned.duration);
    let outcome = chunk.pools.symbol(pinned.outcome.as_str());
    let source = chunk.pools.symbol(pinned.source.as_str());
    chunk.row(
        "jdk.VirtualThreadPinned",
        &[
            Long(pinned.start.0),
            Long(duration),
            Key(thread),
            Key(stack),
            Text(Some(pinned.operation.as_str())),
            Text(Some(pinned.reason.as_str())),
            Key(carrier),
            Pooled(pinned_at),
            Pooled(blocked_at),
            Text(pinned.lock.as_deref()),
            Text(pinned.waits_for.as_deref()),
            Text(pinned.waits_owner.as_deref()),
            Text(pinned.native.as_deref()),
            Long(u64::from(pinned.depth)),
            Long(u64::from(pinned.stranded)),
            Long(nanos(pinned.stranded_time)),
            Key(outcome),
            Key(source),
            Long(pinned.span.unwrap_or(0)),
            Pooled(span),
        ],
    );
    // As the JDK does it: waiting for a monitor is an event of its own, pinned or not.
    if pinned.operation == Operation::MonitorEnter {
        let monitor = pinned.waits_for.as_deref().unwrap_or("unnamed");
        let monitor = chunk.pools.class(monitor, "", true);
        let owner = pinned.waits_owner.as_deref().and_then(thread_in);
        let owner = owner.map_or(0, |(id, name)| chunk.thread(id, &name));
        chunk.row(
            "jdk.JavaMonitorEnter",
            &[
                Long(pinned.start.0),
                Long(duration),
                Key(thread),
                Key(stack),
                Key(monitor),
                Key(owner),
                Long(0),
            ],
        );
    }
}

pub(super) fn put_live<W: Write>(chunk: &mut ChunkWriter<W>, at: u64, pinned: &Pinned) {
    let thread = chunk.thread(pinned.thread.id, &pinned.thread.name);
    let carrier = chunk.carrier(pinned.carrier);
    let stack = chunk.stack(
        &pinned.stack,
        pinned.blocked_at.as_ref(),
        pinned.pinned_at.as_ref(),
    );
    let (pinned_at, blocked_at) = places(chunk, pinned);
    let span = chunk.span_of(pinned);
    let source = chunk.pools.symbol(pinned.source.as_str());
    chunk.row(
        "vt.VirtualThreadPinnedLive",
        &[
            Long(at),
            Long(nanos(pinned.duration)),
            Key(thread),
            Key(stack),
            Text(Some(pinned.operation.as_str())),
            Text(Some(pinned.reason.as_str())),
            Key(carrier),
            Pooled(pinned_at),
            Pooled(blocked_at),
            Text(pinned.lock.as_deref()),
            Text(pinned.waits_for.as_deref()),
            Text(pinned.waits_owner.as_deref()),
            Text(pinned.native.as_deref()),
            Long(u64::from(pinned.depth)),
            Long(u64::from(pinned.stranded)),
            Long(nanos(pinned.stranded_time)),
            Key(source),
            Long(pinned.span.unwrap_or(0)),
            Pooled(span),
        ],
    );
}

fn put_deadlock<W: Write>(chunk: &mut ChunkWriter<W>, at: u64, deadlock: &Deadlock) {
    let carriers: Vec<_> = deadlock.carriers.iter().map(u64::to_string).collect();
    chunk.row(
        "vt.PinnedDeadlock",
        &[
            Long(at),
            Text(Some(deadlock.kind.as_str())),
            Text(deadlock.lock.as_deref()),
            Text(deadlock.owner.as_deref()),
            Text(Some(&carriers.join(","))),
            text(&deadlock.cycle),
        ],
    );
}

fn put_stalled<W: Write>(chunk: &mut ChunkWriter<W>, at: u64, stalled: &Stalled) {
    let thread = chunk.thread(stalled.thread.id, &stalled.thread.name);
    let carrier = chunk.carrier(stalled.carrier);
    let stack = chunk.stack(&stalled.stack, None, None);
    chunk.row(
        "vt.CarrierStalled",
        &[
            Long(at),
            Long(nanos(stalled.elapsed)),
            Key(thread),
            Key(stack),
            Key(carrier),
            Text(Some(stalled.state.as_str())),
            Long(u64::from(stalled.stranded)),
            Text(stalled.native.as_deref()),
        ],
    );
}

fn put_compensation<W: Write>(
    chunk: &mut ChunkWriter<W>,
    name: &str,
    at: u64,
    facts: &Compensation,
) {
    let cells = [
        Long(at),
        text(&facts.reason),
        Long(facts.live),
        Long(facts.max),
        text(&facts.cause),
    ];
    chunk.row(name, &cells);
}

fn put_park<W: Write>(
    chunk: &mut ChunkWriter<W>,
    at: u64,
    thread: &ThreadRef,
    operation: Operation,
    parked: u64,
) {
    let thread = chunk.thread(thread.id, &thread.name);
    let class = chunk.pools.class(operation.as_str(), "vt_runtime", false);
    // The JDK's way to say that neither was given.
    let absent = Long(i64::MIN.cast_unsigned());
    chunk.row(
        "jdk.ThreadPark",
        &[
            Long(at.saturating_sub(parked)),
            Long(parked),
            Key(thread),
            Key(0),
            Key(class),
            absent,
            absent,
            Long(0),
        ],
    );
}

fn text(text: &Arc<str>) -> super::row::Cell<'_> {
    Text(Some(text))
}

/// The keys of where it was pinned and where it waited.
fn places<W: Write>(chunk: &mut ChunkWriter<W>, pinned: &Pinned) -> (u64, u64) {
    let pinned_at = chunk.place(pinned.pinned_at.as_ref());
    let named = || chunk.writer.symbolizer.line(&pinned.stack);
    let blocked_at = match pinned.blocked_at.clone().or_else(named) {
        None => chunk.pools.text(UNKNOWN),
        place => chunk.place(place.as_ref()),
    };
    (pinned_at, blocked_at)
}

fn nanos(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The thread in a text such as `#7 name`.
fn thread_in(text: &str) -> Option<(u64, Arc<str>)> {
    let (id, name) = text.strip_prefix('#')?.split_once(' ')?;
    Some((id.parse().ok()?, name.into()))
}
