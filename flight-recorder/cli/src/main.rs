//! `vt-flight`: reads recordings of virtual threads. Runs the verb that was asked for and gives its
//! exit code: 0 fine, 1 a gate failed, 2 it could not run.

mod args;
mod check;
mod diff;
mod doctor;
mod export;
mod input;
mod live;
mod metadata;
mod print;
mod summary;
mod symbolize;
mod table;
mod text;
mod view;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Arguments, Verb};
use crate::input::Failure;

/// A gate failed.
const GATE: u8 = 1;
/// It could not run.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = anstream::stdout().lock();
    let result = run(&arguments.verb, &mut out).and_then(|passed| {
        out.flush()?;
        Ok(passed)
    });
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(GATE),
        // Who closes the pipe has seen enough.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            anstream::eprintln!("{}: {failure}", text::error("error"));
            ExitCode::from(FAILED)
        }
    }
}

/// Runs a verb; gives whether its gate, if it has one, passed.
fn run(verb: &Verb, out: &mut impl Write) -> Result<bool, Failure> {
    match verb {
        Verb::Summary(arguments) => summary::run(arguments, out)?,
        Verb::Print(arguments) => print::run(arguments, out)?,
        Verb::Metadata(arguments) => metadata::run(arguments, out)?,
        Verb::View(arguments) => view::run(arguments, out)?,
        Verb::Check(arguments) => return check::run(arguments, out),
        Verb::Diff(arguments) => return diff::run(arguments, out),
        Verb::Export(arguments) => export::run(arguments, out)?,
        Verb::Symbolize(arguments) => symbolize::run(arguments, out)?,
        Verb::Doctor(arguments) => return doctor::run(arguments, out),
        Verb::Ps(arguments) => live::ps(arguments, out)?,
        Verb::Status(arguments) => live::status(arguments, out)?,
        Verb::Dump(arguments) => live::dump(arguments, out)?,
        Verb::Threads(arguments) => live::threads::run(arguments, out)?,
        Verb::Set(arguments) => live::set(arguments, out)?,
    }
    Ok(true)
}
