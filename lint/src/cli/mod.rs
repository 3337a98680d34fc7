//! The command line: flags, what is printed where, exit codes.
//!
//! Findings go to standard output, everything about the run to standard error, so that both can be piped.

mod args;
mod baseline;
mod cache;
mod dirty;
mod fix;
mod git;
mod manual;
mod print;
mod progress;
mod run;
mod since;
mod trace;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;

/// Nothing at deny level was found.
pub const CLEAN: u8 = 0;
/// Something at deny level was found.
pub const DENIED: u8 = 1;
/// Nothing could be analysed, or the command line or the configuration is wrong.
pub const UNUSABLE: u8 = 2;

/// Runs the program with `arguments`, the program's name first, and says how it should exit.
pub fn main(mut arguments: Vec<OsString>) -> ExitCode {
    // Cargo runs `cargo-vt-lint vt-lint ..`; people run `cargo-vt-lint ..`.
    if arguments
        .get(1)
        .is_some_and(|argument| argument == "vt-lint")
    {
        arguments.remove(1);
    }
    let args = match args::parse(arguments) {
        Ok(args) => args,
        Err(error) => {
            let wants_text = matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            );
            // Nothing is left to do when the reader of the help has gone.
            let _ = error.print();
            return ExitCode::from(if wants_text { CLEAN } else { UNUSABLE });
        }
    };
    match run::run(&args) {
        Ok(code) => ExitCode::from(code),
        Err(run::Stop::ReaderGone) => ExitCode::from(CLEAN),
        Err(run::Stop::Failed(message)) => {
            let style = anstyle::Style::new()
                .bold()
                .fg_color(Some(anstyle::AnsiColor::Red.into()));
            // As above: if standard error is closed, the exit code still tells.
            let _ = writeln!(args::stderr(args.color), "{style}error{style:#}: {message}");
            ExitCode::from(UNUSABLE)
        }
    }
}

/// Whether a failed write means that the reader of our output has seen enough.
fn is_reader_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}
