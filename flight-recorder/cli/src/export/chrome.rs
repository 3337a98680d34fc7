//! Chrome's trace format: carriers as threads of one process, virtual threads as those of another, so
//! that a pin shows on both and what else the carrier should have run is seen above it.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Map, Value, json};
use vt_flight_recorder::{Event, Pin, Thread};

use crate::print;

/// The process that carriers are shown under.
const CARRIERS: u32 = 1;
/// The process that virtual threads are shown under.
const VIRTUAL_THREADS: u32 = 2;

/// A trace being written.
pub(super) struct Trace<'a, W> {
    out: &'a mut W,
    named: BTreeSet<(u32, i64)>,
}

impl<'a, W: Write> Trace<'a, W> {
    pub(super) fn begin(out: &'a mut W) -> io::Result<Self> {
        write!(out, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        let mut trace = Self {
            out,
            named: BTreeSet::new(),
        };
        let name = |pid: u32, name: &str| json!({ "ph": "M", "name": "process_name", "pid": pid, "args": { "name": name } });
        write!(trace.out, "{}", name(CARRIERS, "carriers"))?;
        trace.write(&name(VIRTUAL_THREADS, "virtual threads"))?;
        Ok(trace)
    }

    pub(super) fn end(self) -> io::Result<()> {
        writeln!(self.out, "]}}")
    }

    pub(super) fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        if let Some(pin) = Pin::of(event) {
            return self.pin(&pin);
        }
        let thread = event
            .thread("eventThread")
            .filter(|thread| thread.is_virtual);
        let track = match &thread {
            Some(thread) => self.track(VIRTUAL_THREADS, thread)?,
            None => return self.instant(event),
        };
        let args = arguments(event);
        let name = short(event.name());
        let duration = event.duration_ns();
        if duration == 0 {
            return self.write(&json!({
                "ph": "i", "s": "t", "name": name, "cat": "event", "pid": VIRTUAL_THREADS,
                "tid": track, "ts": micros(event.start_ns()), "args": args,
            }));
        }
        self.write(&json!({
            "ph": "X", "name": name, "cat": "wait", "pid": VIRTUAL_THREADS, "tid": track,
            "ts": micros(event.start_ns()), "dur": micros(duration), "args": args,
        }))
    }

    fn pin(&mut self, pin: &Pin) -> io::Result<()> {
        let virtual_thread = self.track(VIRTUAL_THREADS, &pin.thread)?;
        let carrier = self.track(CARRIERS, &pin.carrier)?;
        let stack: Vec<_> = pin.frames.iter().map(print::shown_frame).collect();
        let name = format!("pinned: {}", pin.operation);
        for (pid, tid) in [(CARRIERS, carrier), (VIRTUAL_THREADS, virtual_thread)] {
            self.write(&json!({
                "ph": "X", "name": name, "cat": if pin.live { "pin,live" } else { "pin" },
                "pid": pid, "tid": tid,
                "ts": micros(pin.start_ns), "dur": micros(pin.duration_ns),
                "args": {
                    "thread": format!("#{} {}", pin.thread.id, pin.thread.name),
                    "reason": pin.reason, "lock": pin.lock, "native": pin.native,
                    "blocked_at": pin.site(), "pinned_at": pin.pinned_at,
                    "waits_for": pin.waits_for, "waits_owner": pin.waits_owner,
                    "stranded": pin.stranded, "stranded_ns": pin.stranded_ns,
                    "stack": stack,
                },
            }))?;
        }
        Ok(())
    }

    /// Something of the whole recording.
    fn instant(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.write(&json!({
            "ph": "i", "s": "g", "name": short(event.name()), "cat": "event", "pid": CARRIERS,
            "tid": 0, "ts": micros(event.start_ns()), "args": arguments(event),
        }))
    }

    /// The number of a thread's track, named when it is first used.
    fn track(&mut self, pid: u32, thread: &Thread) -> io::Result<i64> {
        if self.named.insert((pid, thread.id)) {
            self.write(&json!({
                "ph": "M", "name": "thread_name", "pid": pid, "tid": thread.id,
                "args": { "name": thread.name },
            }))?;
        }
        Ok(thread.id)
    }

    fn write(&mut self, entry: &Value) -> io::Result<()> {
        write!(self.out, ",\n{entry}")
    }
}

fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn arguments(event: &Event<'_>) -> Map<String, Value> {
    let Value::Object(mut object) = print::json_event(event) else {
        return Map::new();
    };
    match object.remove("values") {
        Some(Value::Object(values)) => values,
        _ => Map::new(),
    }
}

/// Times are microseconds, with a fraction.
fn micros(ns: i64) -> f64 {
    ns as f64 / 1e3
}
