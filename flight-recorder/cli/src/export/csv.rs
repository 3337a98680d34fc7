//! Pins as a table of comma-separated values: times in nanoseconds, one row a pin.

use std::io::{self, Write};

use vt_flight_recorder::Pin;

const COLUMNS: &str = "start_ns,duration_ns,live,thread_id,thread_name,carrier,reason,operation,\
    blocked_at,pinned_at,lock,waits_for,waits_owner,native,depth,stranded,stranded_ns,outcome,source,span_id";

pub(super) fn write_heading(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{COLUMNS}")
}

pub(super) fn write(pin: &Pin, out: &mut impl Write) -> io::Result<()> {
    let cells = [
        pin.start_ns.to_string(),
        pin.duration_ns.to_string(),
        pin.live.to_string(),
        pin.thread.id.to_string(),
        quoted(&pin.thread.name),
        quoted(&pin.carrier.name),
        quoted(&pin.reason),
        quoted(&pin.operation),
        quoted(&pin.site()),
        quoted(&pin.pinned_at),
        quoted(&pin.lock),
        quoted(&pin.waits_for),
        quoted(&pin.waits_owner),
        quoted(&pin.native),
        pin.depth.to_string(),
        pin.stranded.to_string(),
        pin.stranded_ns.to_string(),
        quoted(&pin.outcome),
        quoted(&pin.source),
        pin.span.to_string(),
    ];
    writeln!(out, "{}", cells.join(","))
}

fn quoted(text: &str) -> String {
    // A leading sign would be a formula to a spreadsheet.
    let text = match text.chars().next() {
        Some('=' | '+' | '-' | '@') => format!("'{text}"),
        _ => text.to_owned(),
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}
