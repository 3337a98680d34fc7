//! The main job, end to end: a real service pins, is recorded, found by the lint, repaired, and proven.
//!
//! `cargo run --release --bin vt-demo`. Every claim on its screen is checked in the run; it fails with the reason if
//! one does not hold.

mod checkout;
mod database;
mod http;
mod lint;
mod load;
mod payments;
mod phase;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use checkout::{After, Before};
use clap::Parser;
use phase::{Failure, Phase};

/// How long each phase is under load.
const LOAD: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.next_if(|first| first == lint::AS_LINT).is_some() {
        return lint::main(arguments);
    }
    match tell(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("vt-demo: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the demonstration and leaves its files in FOLDER. Exits with 1 if a claim does not hold.
#[derive(Parser)]
#[command(name = "vt-demo", version)]
struct Options {
    /// Where recordings, findings and report go
    #[arg(default_value = "target/vt-demo")]
    folder: PathBuf,
    /// The port of loopback that the service listens on; a free one if 0
    #[arg(long, default_value_t = 0)]
    port: u16,
}

/// The three phases and their report.
fn tell(options: &Options) -> Result<(), Failure> {
    let Options { folder, port } = options;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::new(format!("cannot create {}: {error}", folder.display())))?;
    eprintln!("1 of 3: the service as it was written, under load for {LOAD:?}");
    let pinned = Phase::run::<Before>("pinned", folder, *port, LOAD)?;
    eprintln!("2 of 3: the lint on its source");
    let found = lint::run(folder, &pinned.recording)?;
    eprintln!("3 of 3: the same service with #[park_safe], under load for {LOAD:?}");
    let repaired = Phase::run::<After>("repaired", folder, *port, LOAD)?;
    let claims = report::Claims::check(&pinned, &found, &repaired)?;
    let html = folder.join("report.html");
    report::write_html(&html, &pinned, &found, &repaired, &claims)?;
    report::print(&pinned, &found, &repaired, &claims, &html);
    Ok(())
}
