//! Events as `tracing` events: levels, names and fields of the schema's table.
//!
//! The message repeats the event's name, because the usual text formats do not print metadata names.
//! [`crate::event::decode()`] is the inverse.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use tracing::{Level, event};

use super::source;
use crate::event::clock::nanos;
use crate::event::{
    Compensation, Deadlock, Event, MostlyPinned, Pinned, Place, Stalled, TARGET, UNKNOWN,
};

/// Emits one `tracing` event: target and name as in the schema, the name once more as the message.
macro_rules! report {
    ($level:ident $name:literal, $($fields:tt)+) => {
        event!(name: $name, target: TARGET, Level::$level, { $($fields)+ }, $name)
    };
}

/// The fields that both pinned events share, around the one that differs.
macro_rules! report_pinned {
    ($name:literal, $pinned:ident, $($duration:ident).+) => {
        report!(WARN $name,
            thread.id = $pinned.thread.id,
            thread.name = &*$pinned.thread.name,
            carrier.id = $pinned.carrier,
            span.id = $pinned.span,
            reason = $pinned.reason.as_str(),
            operation = $pinned.operation.as_str(),
            $($duration).+ = nanos($pinned.duration),
            pinned_at = place(&$pinned.pinned_at),
            blocked_at = place(&$pinned.blocked_at).as_deref().unwrap_or(UNKNOWN),
            lock = text(&$pinned.lock),
            waits_for = text(&$pinned.waits_for),
            waits_owner = text(&$pinned.waits_owner),
            native = text(&$pinned.native),
            depth = u64::from($pinned.depth),
            stranded = u64::from($pinned.stranded),
            stranded_ns = nanos($pinned.stranded_time),
            outcome = $pinned.outcome.as_str(),
            source = $pinned.source.as_str(),
            stack = addresses(&$pinned.stack),
        )
    };
}

/// A pin whose caller could not be told says where the application blocked as soon as its stack is named: here, off
/// the carriers, and only if somebody listens.
fn located(pinned: &Pinned) -> Cow<'_, Pinned> {
    let needed = pinned.blocked_at.is_none()
        && !pinned.stack.is_empty()
        && tracing::event_enabled!(target: TARGET, Level::WARN);
    match needed
        .then(|| source::of_application(&pinned.stack))
        .flatten()
    {
        Some(place) => Cow::Owned(Pinned {
            blocked_at: Some(place),
            ..pinned.clone()
        }),
        None => Cow::Borrowed(pinned),
    }
}

/// Hands `event` to the current dispatcher.
pub(in crate::event) fn emit(event: &Event) {
    match event {
        Event::VirtualThreadPinned(pinned) => {
            let pinned = &*located(pinned);
            report_pinned!("VirtualThreadPinned", pinned, duration_ns)
        }
        Event::VirtualThreadPinnedLive(pinned) => {
            let pinned = &*located(pinned);
            report_pinned!("VirtualThreadPinnedLive", pinned, elapsed_ns)
        }
        Event::PinnedDeadlock(deadlock) => emit_deadlock(deadlock),
        Event::CarrierStalled(stalled) => emit_stalled(stalled),
        Event::CarrierMostlyPinned(facts) => emit_mostly_pinned(facts),
        Event::CarrierCompensated(compensation) => {
            let Compensation {
                reason,
                live,
                max,
                cause,
            } = compensation;
            report!(INFO "CarrierCompensated", reason = &**reason, live, max, cause = filled(cause));
        }
        Event::CompensationExhausted(compensation) => {
            let Compensation {
                reason,
                live,
                max,
                cause,
            } = compensation;
            report!(WARN "CompensationExhausted", reason = &**reason, live, max, cause = filled(cause));
        }
        Event::NativeCall {
            thread,
            carrier,
            native,
            wall,
            state,
        } => report!(DEBUG "NativeCall",
            thread.id = thread.id,
            thread.name = &*thread.name,
            carrier.id = carrier,
            native = &**native,
            wall_ns = nanos(*wall),
            state = state.as_str(),
        ),
        Event::OffloadQueued {
            thread,
            queued,
            max,
        } => report!(INFO "OffloadQueued",
            thread.id = thread.id,
            thread.name = &*thread.name,
            queued_ns = nanos(*queued),
            max,
        ),
        Event::VirtualThreadSubmitFailed { cause, live, cap } => {
            report!(ERROR "VirtualThreadSubmitFailed", cause = &**cause, live, cap);
        }
        Event::VirtualThreadStart { thread, carrier } => report!(TRACE "VirtualThreadStart",
            thread.id = thread.id, thread.name = &*thread.name, carrier.id = carrier),
        Event::VirtualThreadEnd { thread, carrier } => report!(TRACE "VirtualThreadEnd",
            thread.id = thread.id, thread.name = &*thread.name, carrier.id = carrier),
        Event::VirtualThreadPark { thread, operation } => report!(TRACE "VirtualThreadPark",
            thread.id = thread.id, thread.name = &*thread.name, operation = operation.as_str()),
        Event::VirtualThreadUnpark {
            thread,
            operation,
            parked,
        } => report!(TRACE "VirtualThreadUnpark",
            thread.id = thread.id,
            thread.name = &*thread.name,
            operation = operation.as_str(),
            parked_ns = nanos(*parked),
        ),
        Event::MonitorLeaked {
            thread,
            lock,
            pinned_at,
        } => report!(ERROR "MonitorLeaked",
            thread.id = thread.id,
            thread.name = &*thread.name,
            lock = text(lock),
            pinned_at = place(pinned_at),
        ),
        Event::EventsDropped { class, count } => {
            report!(WARN "EventsDropped", class = class.as_str(), count)
        }
    }
}

fn emit_deadlock(deadlock: &Deadlock) {
    report!(ERROR "PinnedDeadlock",
        kind = deadlock.kind.as_str(),
        lock = text(&deadlock.lock),
        owner = text(&deadlock.owner),
        carriers = list(&deadlock.carriers, |out, id| write!(out, "{id}")).unwrap_or_default(),
        cycle = &*deadlock.cycle,
    );
}

fn emit_stalled(stalled: &Stalled) {
    report!(WARN "CarrierStalled",
        carrier.id = stalled.carrier,
        thread.id = stalled.thread.id,
        thread.name = &*stalled.thread.name,
        state = stalled.state.as_str(),
        stranded = u64::from(stalled.stranded),
        elapsed_ns = nanos(stalled.elapsed),
        native = text(&stalled.native),
        stack = addresses(&stalled.stack),
    );
}

fn emit_mostly_pinned(facts: &MostlyPinned) {
    report!(WARN "CarrierMostlyPinned",
        carrier.id = facts.carrier,
        pinned_ns = nanos(facts.pinned),
        window_ns = nanos(facts.window),
        pinned_at = place(&facts.pinned_at),
        blocked_at = place(&facts.blocked_at).as_deref().unwrap_or(UNKNOWN),
        advice = advice(facts),
    );
}

/// For people; all of it is in the other fields.
fn advice(facts: &MostlyPinned) -> String {
    let share = 100.0 * facts.pinned.as_secs_f64() / facts.window.as_secs_f64();
    let mut advice = format!(
        "your service is a thread pool again: pins took {share:.0} % of carrier {} over {:.1?}",
        facts.carrier, facts.window
    );
    let unknown = || UNKNOWN.to_owned();
    if facts.pinned_at.is_some() || facts.blocked_at.is_some() {
        // Writing to a string cannot fail.
        let _ = write!(
            advice,
            ", most of it pinned at {} and blocked at {}",
            place(&facts.pinned_at).unwrap_or_else(unknown),
            place(&facts.blocked_at).unwrap_or_else(unknown)
        );
    }
    advice
}

fn text(text: &Option<Arc<str>>) -> Option<&str> {
    text.as_deref()
}

fn filled(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn place(place: &Option<Place>) -> Option<String> {
    place.as_ref().map(Place::to_string)
}

/// `0x55d0..,0x55d1..`, innermost first; nothing for no stack.
fn addresses(stack: &[u64]) -> Option<String> {
    list(stack, |out, address| write!(out, "{address:#x}"))
}

fn list(items: &[u64], write: impl Fn(&mut String, u64) -> std::fmt::Result) -> Option<String> {
    let mut out = String::new();
    for (i, &item) in items.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        // Writing to a string cannot fail.
        let _ = write(&mut out, item);
    }
    (!items.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests;
