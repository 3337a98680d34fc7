//! `vt-flight summary`: how many events of each type, in how many bytes, over what time.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::json;

use crate::args::Summary;
use crate::input::{self, Broke, Failure};
use crate::table::{Cell, Table};
use crate::text;

#[derive(Default)]
struct Totals {
    chunks: u64,
    version: String,
    start_ns: i64,
    end_ns: i64,
    /// Count and bytes by type.
    types: BTreeMap<String, (u64, u64)>,
}

pub(crate) fn run(arguments: &Summary, out: &mut impl Write) -> Result<(), Failure> {
    let mut totals = Totals {
        start_ns: i64::MAX,
        ..Totals::default()
    };
    let seen = input::chunks(&arguments.files.files, |_, chunk, seen| {
        let header = chunk.header();
        totals.chunks += 1;
        totals.version = format!("{}.{}", header.major, header.minor);
        let start = i64::try_from(header.start_ns).unwrap_or(i64::MAX);
        let length = i64::try_from(header.duration_ns).unwrap_or(i64::MAX);
        totals.start_ns = totals.start_ns.min(start);
        totals.end_ns = totals.end_ns.max(start.saturating_add(length));
        // Types that never happened are listed with a zero, as the JDK does.
        let of_events = chunk.types().iter().filter(|of| of.is_event());
        let names: Vec<_> = of_events.map(|of| (of.id, of.name.clone())).collect();
        // By number while the chunk lasts: a file may hold millions of events.
        let mut counts: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        while let Some(event) = chunk.next_event().map_err(Broke)? {
            seen.count(&event);
            let of = counts.entry(event.of().id).or_default();
            *of = (of.0 + 1, of.1 + event.size());
        }
        for (id, name) in names {
            let (count, bytes) = counts.get(&id).copied().unwrap_or_default();
            let of = totals.types.entry(name).or_default();
            *of = (of.0 + count, of.1 + bytes);
        }
        Ok(())
    })?;
    if totals.chunks == 0 {
        totals.version = "unknown".to_owned();
    }
    let start = if totals.chunks == 0 {
        0
    } else {
        totals.start_ns
    };
    let length = totals.end_ns.saturating_sub(start).max(0);
    let mut types: Vec<_> = totals.types.into_iter().collect();
    types.sort_by_key(|(name, (count, _))| (std::cmp::Reverse(*count), name.clone()));
    let mut table = Table::new(
        "Event types",
        &[
            ("Event Type", "type"),
            ("Count", "count"),
            ("Size", "bytes"),
        ],
    );
    for (name, (count, bytes)) in types {
        table.row(vec![
            Cell::text(name),
            Cell::Count(count),
            Cell::Bytes(bytes),
        ]);
    }
    if arguments.json {
        let summary = json!({
            "version": totals.version,
            "chunks": totals.chunks,
            "start_ns": start,
            "duration_ns": length,
            "lost": seen.lost,
            "throttled": seen.throttled,
            "damaged": seen.damages,
            "types": table.json(),
        });
        writeln!(out, "{summary}")?;
        return Ok(());
    }
    writeln!(out, "{} {}", text::heading(" Version: "), totals.version)?;
    writeln!(out, "{} {}", text::heading("  Chunks: "), totals.chunks)?;
    writeln!(
        out,
        "{} {}",
        text::heading("   Start: "),
        text::moment(start)
    )?;
    writeln!(
        out,
        "{} {}",
        text::heading("Duration: "),
        text::span(length)
    )?;
    writeln!(out, "{} {}", text::heading("    Lost: "), lost(seen.lost))?;
    if seen.throttled > 0 {
        writeln!(
            out,
            "{} {} parks, starts and ends left out (see `vt-flight view losses`)",
            text::heading("Throttle:"),
            seen.throttled
        )?;
    }
    writeln!(out)?;
    table.write(out)?;
    Ok(())
}

fn lost(count: u64) -> String {
    match count {
        0 => "nothing".to_owned(),
        1 => "1 record (see `vt-flight view losses`)".to_owned(),
        _ => format!("{count} records (see `vt-flight view losses`)"),
    }
}
