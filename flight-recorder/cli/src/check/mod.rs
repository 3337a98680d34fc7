//! `vt-flight check`: a gate. Fails when recordings hold more pins than allowed, or when they cannot
//! show that they do not: lost records and damage are no proof of peace.

mod allow;

use std::io::Write;

use serde_json::json;
use vt_flight_recorder::Pin;

use self::allow::Allowed;
use crate::args::Check;
use crate::input::{self, Failure};
use crate::text;
use crate::view::{PinnedNow, PinnedSites, View};

pub(crate) fn run(arguments: &Check, out: &mut impl Write) -> Result<bool, Failure> {
    let mut allowed = match &arguments.allow {
        Some(path) => Allowed::load(path)?,
        None => Allowed::default(),
    };
    let least = arguments.longer_than.unwrap_or_default().as_nanos();
    let least = i64::try_from(least).unwrap_or(i64::MAX);
    let mut sites = PinnedSites::default();
    let (mut pins, mut permitted, mut pins_lost) = (0_u64, 0_u64, 0_u64);
    let mut judge = |pin: &Pin| {
        if pin.duration_ns < least {
            return;
        }
        if allowed.permits(pin) {
            permitted += 1;
        } else {
            pins += 1;
            sites.add(pin);
        }
    };
    let mut now = PinnedNow::default();
    let seen = input::events(&arguments.files.files, |event| {
        if event.name() == "vt.EventsDropped" && event.text("class").as_deref() == Some("pins") {
            pins_lost += event.integer("count").unwrap_or(0).unsigned_abs();
        }
        match Pin::of_anybody(event) {
            // Whose it is tells whether it has ended.
            Some(pin) if pin.live => Pin::of(event).into_iter().for_each(|pin| now.live(pin)),
            Some(pin) => judge(&pin),
            None => {}
        }
        Ok(())
    })?;
    if now.is_open() {
        input::again(&arguments.files.files, |event| now.settle(event))?;
    }
    // Those that had not ended count as well: the longest of all are among them.
    now.pins().iter().for_each(judge);
    if seen.damages > 0 && pins <= arguments.max_pinned {
        let told = "a damaged recording cannot pass: what is missing may hold pins";
        return Err(Failure::Told(told.to_owned()));
    }
    let passed = pins <= arguments.max_pinned && pins_lost == 0;
    let notes = allowed.notes();
    if arguments.json {
        let verdict = json!({
            "passed": passed,
            "pins": pins,
            "max_pinned": arguments.max_pinned,
            "allowed_pins": permitted,
            "pins_lost": pins_lost,
            "notes": notes,
            "sites": Box::new(sites).table().json(),
        });
        writeln!(out, "{verdict}")?;
        return Ok(passed);
    }
    let word = if passed {
        text::good("passed")
    } else {
        text::error("failed")
    };
    let span = match least {
        0 => String::new(),
        least => format!(" of {} or longer", text::span(least)),
    };
    let most = arguments.max_pinned;
    writeln!(
        out,
        "{word}: {pins} pins{span}, {most} allowed; {permitted} more at allowed sites"
    )?;
    if pins_lost > 0 {
        writeln!(
            out,
            "{pins_lost} records of pins were lost, so their number is not known"
        )?;
    }
    for note in notes {
        writeln!(out, "{}: {note}", text::warning("note"))?;
    }
    if pins > 0 {
        writeln!(out)?;
        Box::new(sites).table().write(out)?;
    }
    Ok(passed)
}
