//! `vt-flight export`: recordings for other tools. One file a format; each gets the pins or events
//! and an output, and knows nothing of where either comes from.

mod chrome;
mod collapsed;
mod csv;
mod flamegraph;
mod pprof;

use std::fs::File;
use std::io::{BufWriter, Write};

use vt_flight_recorder::Pin;

use crate::args::{Export, Format, Weight};
use crate::input::{self, Failure};
use crate::print;
use crate::view::Groups;

pub(crate) fn run(arguments: &Export, out: &mut impl Write) -> Result<(), Failure> {
    let Some(path) = &arguments.output else {
        return write(arguments, out);
    };
    let failed = |error: std::io::Error| Failure::File(path.clone(), error.to_string());
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    write(arguments, &mut file)?;
    file.flush().map_err(failed)
}

fn write(arguments: &Export, out: &mut impl Write) -> Result<(), Failure> {
    let files = &arguments.files.files;
    match arguments.to {
        Format::Json => {
            input::events(files, |event| {
                Ok(writeln!(out, "{}", print::json_event(event))?)
            })?;
        }
        Format::Csv => {
            csv::write_heading(out)?;
            input::events(files, |event| match Pin::of(event) {
                Some(pin) => Ok(csv::write(&pin, out)?),
                None => Ok(()),
            })?;
        }
        Format::Chrome | Format::Perfetto => {
            let mut trace = chrome::Trace::begin(out)?;
            input::events(files, |event| Ok(trace.event(event)?))?;
            trace.end()?;
        }
        Format::Collapsed => collapsed::write(&stacks(arguments)?, out)?,
        Format::Flamegraph => flamegraph::write(&stacks(arguments)?, arguments.weight, out)?,
        Format::Pprof => {
            let mut profile = pprof::Profile::new(arguments.weight);
            input::events(files, |event| {
                if let Some(pin) = Pin::of_anybody(event).filter(|pin| !pin.live) {
                    profile.add(&pin);
                }
                Ok(())
            })?;
            out.write_all(&profile.encode())?;
        }
    }
    Ok(())
}

/// The pins' stacks, outermost frame first, each with its weight.
fn stacks(arguments: &Export) -> Result<collapsed::Stacks, Failure> {
    let mut stacks: Groups<Vec<String>, u64> = Groups::default();
    input::events(&arguments.files.files, |event| {
        if let Some(pin) = Pin::of_anybody(event).filter(|pin| !pin.live) {
            *stacks.of(&pin.kind, || frames(&pin)) += weight(&pin, arguments.weight);
        }
        Ok(())
    })?;
    Ok(stacks.into_map())
}

/// The names of a pin's frames, outermost first, with what it waited for as the innermost.
fn frames(pin: &Pin) -> Vec<String> {
    let visible = pin.frames.iter().rev().filter(|frame| !frame.hidden);
    let operation = if pin.native.is_empty() {
        &pin.operation
    } else {
        &pin.native
    };
    visible
        .map(ToString::to_string)
        .chain([format!("[{operation}]")])
        .collect()
}

fn weight(pin: &Pin, weight: Weight) -> u64 {
    match weight {
        Weight::Duration => pin.duration_ns.unsigned_abs(),
        Weight::Stranded => pin.stranded_ns.unsigned_abs(),
        Weight::Count => 1,
    }
}
